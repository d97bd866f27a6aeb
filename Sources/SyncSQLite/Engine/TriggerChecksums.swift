import GRDB
import SyncCore

/// Tells whether the triggers of an entity are still those that were made last: then no edit was missed.
struct TriggerChecksums {
    /// A word in the text of an entity that the engine which was opened last does not keep in step: another engine does.
    private static let ofOther: Substring = "-"

    private let marks: Set<Substring>

    init(_ statements: some Sequence<String>) { marks = Set(statements.map { Self.mark($0)[...] }) }

    /// - Parameter text: What ``text`` was.
    init(text: String) { marks = Set(text.split(separator: " ")).subtracting([Self.ofOther]) }

    /// As a column keeps it.
    ///
    /// - Parameter isOfOther: Whether another engine keeps the entity in step than the one that is opened.
    func text(isOfOther: Bool) -> String {
        (marks.sorted() + (isOfOther ? [Self.ofOther] : [])).joined(separator: " ")
    }

    /// Whether another engine keeps the entity in step than the one that was opened last.
    static func isOfOther(_ text: String) -> Bool { text.split(separator: " ").contains(ofOther) }

    func areAll(in others: TriggerChecksums) -> Bool { !marks.isEmpty && marks.isSubset(of: others.marks) }

    private static func mark(_ statement: String) -> String {
        let hasher = RecordHasher(seed: RecordHash(low: 0x5379_6E63, high: 0x5472_6967))
        let hash = Array(statement.utf8).withUnsafeBytes { hasher.hash($0) }
        return String(hash.low, radix: 36) + String(hash.high, radix: 36)
    }
}
