import GRDB
import SyncCore

/// Checksums of the triggers of an entity. If they are those of the triggers that were created last, no edit was
/// missed.
struct TriggerChecksums {
    /// The word in the text of an entity that another engine syncs, and not the engine that was opened last.
    private static let ofOther: Substring = "-"

    private let checksums: Set<Substring>

    init(_ statements: some Sequence<String>) { checksums = Set(statements.map { Self.checksum($0)[...] }) }

    /// - Parameter text: A text that ``text(isOfOther:)`` returned.
    init(text: String) { checksums = Set(text.split(separator: " ")).subtracting([Self.ofOther]) }

    /// Returns the checksums as the column `triggers` stores them.
    ///
    /// - Parameter isOfOther: Whether another engine syncs the entity than the one that is opened.
    func text(isOfOther: Bool) -> String {
        (checksums.sorted() + (isOfOther ? [Self.ofOther] : [])).joined(separator: " ")
    }

    /// Returns whether another engine syncs the entity than the one that was opened last.
    static func isOfOther(_ text: String) -> Bool { text.split(separator: " ").contains(ofOther) }

    func areAll(in others: TriggerChecksums) -> Bool { !checksums.isEmpty && checksums.isSubset(of: others.checksums) }

    private static func checksum(_ statement: String) -> String {
        let hasher = RecordHasher(seed: RecordHash(low: 0x5379_6E63, high: 0x5472_6967))
        let hash = Array(statement.utf8).withUnsafeBytes { hasher.hash($0) }
        return String(hash.low, radix: 36) + String(hash.high, radix: 36)
    }
}
