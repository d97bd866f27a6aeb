package import SyncCore

/// What a file is, wherever its bytes are.
package struct FileContent: Sendable, Hashable {
    /// The SHA-256 of its bytes.
    package let hash: String
    package let name: String
    package let type: String

    package init(hash: String, name: String, type: String) {
        self.hash = hash
        self.name = name
        self.type = type
    }
}

/// A file that was attached to a row and that the server does not have yet.
package struct PendingUpload: Sendable {
    package enum Outcome: Sendable {
        /// The server has it.
        case sent
        /// It will never take it.
        case refused(String)
        /// It was not done, or nobody knows.
        case failed
    }

    package let number: Int64
    package let entity: String
    package let key: PrimaryKeyValue
    /// What the server calls the row.
    package let remoteID: JSONValue
    package let attribute: String
    /// The keys that lead to the attribute in a record.
    package let path: [String]
    package let content: FileContent
    /// Why the server refused it.
    package let reason: String?

    package init(
        number: Int64, entity: String, key: PrimaryKeyValue, remoteID: JSONValue, attribute: String, path: [String],
        content: FileContent, reason: String?
    ) {
        self.number = number
        self.entity = entity
        self.key = key
        self.remoteID = remoteID
        self.attribute = attribute
        self.path = path
        self.content = content
        self.reason = reason
    }
}

/// What an attribute holds of a file.
package struct FileAttributeState: Sendable {
    /// The hash of one that waits to be sent.
    package let waiting: String?
    /// The name at the server.
    package let name: String?
    /// What the server calls the row.
    package let remoteID: JSONValue

    package init(waiting: String?, name: String?, remoteID: JSONValue) {
        self.waiting = waiting
        self.name = name
        self.remoteID = remoteID
    }
}
