/// A value that its owner neither compares nor hashes: it is derived from the others, or does not count.
package struct Uncompared<Value: Sendable>: Sendable, Hashable {
    package var value: Value

    package init(_ value: Value) { self.value = value }

    package static func == (left: Self, right: Self) -> Bool { true }

    package func hash(into hasher: inout Hasher) {}
}
