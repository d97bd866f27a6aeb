public import Foundation

/// A value that was changed here and on the server since both last agreed, for an app's own rule to settle.
public struct DomainConflict: Sendable, Hashable {
    /// The entity of the row.
    public let entity: String
    /// The row's key.
    public let key: RecordKey
    /// The attribute or to-one relationship.
    public let domain: String
    /// What both sides had agreed on; null where nobody knows.
    public let base: JSONValue
    /// What is here, as the column has it.
    public let local: JSONValue
    /// What the server has, as the column has it.
    public let remote: JSONValue
    /// When it was edited here. 1970 for a value that a row made here never had set, and where the time is not known.
    public let edited: Date

    package init(
        entity: String, key: RecordKey, domain: String, base: JSONValue, local: JSONValue, remote: JSONValue,
        edited: Date
    ) {
        self.entity = entity
        self.key = key
        self.domain = domain
        self.base = base
        self.local = local
        self.remote = remote
        self.edited = edited
    }

    /// What becomes of it.
    public enum Resolution: Sendable, Hashable {
        /// What the policy of the entity says.
        case byPolicy
        /// The value here stays, and is sent.
        case local
        /// The value of the server is taken.
        case remote
        /// Another value, as the column has it: it is stored and sent.
        case value(JSONValue)
        /// The row waits until somebody decides.
        case wait
    }
}
