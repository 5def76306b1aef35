/**
 * Owns the way into a registry for this package's own modules: what the public methods do not
 * offer, because whoever can name it could claim what it grants. Invariant: a registry's door is
 * known to this map alone.
 *
 *   interface Door {
 *     // A call from outside, whatever its context names: hidden operations are unknown.
 *     executeOutside(id, input, context): Promise<ResponseEnvelope>;
 *     // A nested call: hidden operations are known, the identity is the one given, or none.
 *     executeInside(id, input, context, identity): Promise<ResponseEnvelope>;
 *     // Specifications of what an outside caller may call, in order.
 *     visible(identity): OperationSpec[];
 *     // Refuses as `execute` would, before the input is looked at: unknown, hidden, denied.
 *     specFor(id, identity): OperationSpec;
 *     // The JSON text of what a gateway's `search` finds; undefined for an unknown cursor.
 *     search(identity, argumentsText, limits): string | undefined;
 *     // Ids of the operations that `registerDiscovery` made.
 *     discovery: Set<string>;
 *     newId(): string; now(): number;
 *     warn(event): void;
 *     // Adds entries `{ spec, handler }` as `registerAll` does; an `owner` makes them imported.
 *     add(entries, { replace, owner }): string[]; owns(owner, id): boolean; remove(ids): void;
 *     imports: Set<object>;
 *   }
 */

import { refused } from "./arguments.js";

const doors = new WeakMap();

function openDoor(registry, door) {
  doors.set(registry, door);
}

function doorOf(registry) {
  const isObject = typeof registry === "object" && registry !== null;
  const door = isObject ? doors.get(registry) : undefined;
  if (door === undefined) {
    throw refused("registry");
  }
  return door;
}

export { doorOf, openDoor };
