import GRDB
import SyncCore

/// Tells whether the triggers of an entity are still those that were made last: then no edit was missed.
struct TriggerMarks {
    private let marks: Set<Substring>

    init(_ statements: some Sequence<String>) { marks = Set(statements.map { Self.mark($0)[...] }) }

    /// - Parameter text: What ``text`` was.
    init(text: String) { marks = Set(text.split(separator: " ")) }

    /// As a column keeps it.
    var text: String { marks.sorted().joined(separator: " ") }

    func areAll(in others: TriggerMarks) -> Bool { !marks.isEmpty && marks.isSubset(of: others.marks) }

    private static func mark(_ statement: String) -> String {
        let hasher = RecordHasher(seed: RecordHash(low: 0x5379_6E63, high: 0x5472_6967))
        let hash = Array(statement.utf8).withUnsafeBytes { hasher.hash($0) }
        return String(hash.low, radix: 36) + String(hash.high, radix: 36)
    }
}
