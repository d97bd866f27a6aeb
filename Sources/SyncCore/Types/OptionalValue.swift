/// Any optional, where its type is not known.
protocol OptionalValue {
    /// The value, if there is one.
    var content: Any? { get }
}

extension Optional: OptionalValue {
    var content: Any? { map { $0 as Any } }
}
