/// Where something stands in the text of a condition, for messages.
///
/// All places are equal: the same condition written with other blanks is the same condition.
package struct PredicatePlace: Sendable, Hashable {
    package static let none = PredicatePlace(line: nil, column: nil)

    /// From 1; nil for a condition that was not made from text.
    package let line: Int?
    /// In bytes, from 1.
    package let column: Int?

    package static func == (left: PredicatePlace, right: PredicatePlace) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}

    /// An error about the text here.
    package func error(_ message: String, entity: String? = nil) -> SyncError {
        SyncError(.invalidPredicate, message, entity: entity, line: line, column: column)
    }
}
