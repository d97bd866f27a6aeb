public import Foundation

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension RecordPredicate {
    /// The condition that a predicate of Foundation's is, on the rows of a type.
    ///
    /// ```swift
    /// let busy = try RecordPredicate(#Predicate<User> { user in
    ///     user.age > 18 && user.notes.contains { $0.stars > 2 && !$0.isDraft }
    /// })
    /// ```
    /// Rows and values mean the same to both, but for what a column keeps. Texts are compared, ordered and searched
    /// by their bytes: `é` in one spelling is not `é` in another, and has an `e` in the one of an `e` and an accent.
    /// Dates are of the millisecond, and a calculation whose result is no number has none. Where Foundation would trap,
    /// at an overflow or a nil that is unwrapped, there is no value, and a comparison with it is false.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate` that names the expression for what has no translation.
    public init<Value: SyncEntity>(_ predicate: Foundation.Predicate<Value>) throws {
        var translator = PredicateTranslator()
        translator.bind(predicate.variable.key, to: Value.self)
        self.init(try translator.condition(predicate.expression))
        if let error = node.firstError { throw error }
    }
}
