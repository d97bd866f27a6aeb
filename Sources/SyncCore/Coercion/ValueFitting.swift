/// Whether values have room in the Swift type of a property.
package protocol ValueFitting: Sendable {
    /// Whether a value that is not nil is one of the type.
    func fits(_ value: StoredValue) -> Bool
    /// The whole numbers that fit, where that is all there is to know.
    var integers: ClosedRange<Int64>? { get }
    /// What the type is called.
    var typeName: String { get }
}

extension ValueFitting {
    package var integers: ClosedRange<Int64>? { nil }
}

/// What an attribute of a Swift type is checked with; nothing where any value of its kind fits. Attributes are equal without it:
/// a store keeps none.
package struct ValueCheck: Sendable, Hashable {
    package let fitting: any ValueFitting

    init?(_ fitting: (any ValueFitting)?) {
        guard let fitting else { return nil }
        self.fitting = fitting
    }

    package static func == (left: ValueCheck, right: ValueCheck) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}
}
