// A reporter of `node --test`: the files in which a test failed, one a line.
export default async function* failedFiles(source) {
  const told = new Set();
  for await (const { type, data } of source) {
    if (type === "test:fail" && data.file !== undefined && !told.has(data.file)) {
      told.add(data.file);
      yield `${data.file}\n`;
    }
  }
}
