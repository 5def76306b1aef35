// A sink that keeps everything a transport reports, in order.
export class RecordingSink {
  reports = [];
  bytes = 0;
  head = "";
  stderrBytes = 0;
  gate = Promise.resolve();

  receive(chunk) {
    this.bytes += chunk.length;
    this.head += chunk.toString("latin1", 0, 1000 - this.head.length);
  }

  ready() {
    return this.gate;
  }

  exited(code) {
    this.reports.push(["exited", code]);
  }

  end() {
    this.reports.push("end");
  }

  writeFailed() {
    this.reports.push("writeFailed");
  }

  stderr(chunk) {
    this.stderrBytes += chunk.length;
  }

  stderrEnded() {
    this.reports.push("stderrEnded");
  }

  /** What was reported of the end, the error output's apart. */
  get endReports() {
    return this.reports.filter((report) => report !== "stderrEnded");
  }
}
