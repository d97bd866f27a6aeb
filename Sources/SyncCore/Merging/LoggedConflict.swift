public import Foundation

/// One domain of a row in which both sides differed, and who won.
public struct LoggedConflict: Sendable, Hashable {
    /// The entity of the row.
    public let entity: String
    /// The row's key.
    public let key: RecordKey
    /// The column, or the relationship.
    public let domain: String
    /// What both sides had agreed on, as an export writes it; null where nobody knows.
    public let base: JSONValue
    /// What was here, as an export writes it.
    public let local: JSONValue
    /// What the server had, as an export writes it; of a row that was deleted here, its record.
    public let remote: JSONValue
    /// `local`, `remote`, or `open` as long as nobody decided.
    public let winner: String
    /// The rule that decided.
    public let why: String
    /// When.
    public let time: Date

    package init(
        entity: String, key: RecordKey, domain: String, base: JSONValue, local: JSONValue, remote: JSONValue,
        winner: String, why: String, time: Date
    ) {
        self.entity = entity
        self.key = key
        self.domain = domain
        self.base = base
        self.local = local
        self.remote = remote
        self.winner = winner
        self.why = why
        self.time = time
    }
}
