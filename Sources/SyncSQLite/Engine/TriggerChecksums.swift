import GRDB
import SyncCore

/// The checksums of an entity's triggers. If the database has the triggers with the stored checksums, the engine
/// assumes that they missed no edit.
struct TriggerChecksums {
    /// The word in the stored text that marks an entity of another engine than the one that was opened last.
    private static let ofOther: Substring = "-"

    private let checksums: Set<Substring>

    init(_ statements: some Sequence<String>) { checksums = Set(statements.map { Self.checksum($0)[...] }) }

    /// - Parameter text: A text that ``text(isOfOther:)`` returned.
    init(text: String) { checksums = Set(text.split(separator: " ")).subtracting([Self.ofOther]) }

    /// Returns the checksums as the column `triggers` stores them.
    ///
    /// - Parameter isOfOther: Whether the entity belongs to another engine than the one that is being opened.
    func text(isOfOther: Bool) -> String {
        (checksums.sorted() + (isOfOther ? [Self.ofOther] : [])).joined(separator: " ")
    }

    /// Returns whether a stored text marks an entity of another engine than the one that was opened last.
    static func isOfOther(_ text: String) -> Bool { text.split(separator: " ").contains(ofOther) }

    func areAll(in others: TriggerChecksums) -> Bool { !checksums.isEmpty && checksums.isSubset(of: others.checksums) }

    private static func checksum(_ statement: String) -> String {
        let hasher = RecordHasher(seed: RecordHash(low: 0x5379_6E63, high: 0x5472_6967))
        let hash = Array(statement.utf8).withUnsafeBytes { hasher.hash($0) }
        return String(hash.low, radix: 36) + String(hash.high, radix: 36)
    }
}
