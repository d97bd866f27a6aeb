/// The value of a stored property that synthesized `==` and `hash(into:)` must ignore. Any two instances are equal.
package struct EqualityIgnored<Value: Sendable>: Sendable, Hashable {
    package var value: Value

    package init(_ value: Value) { self.value = value }

    package static func == (left: Self, right: Self) -> Bool { true }

    package func hash(into hasher: inout Hasher) {}
}
