package import SyncCore

/// The hash, name and type of a file.
package struct FileContent: Sendable, Hashable {
    /// The SHA-256 of the bytes.
    package let hash: String
    package let name: String
    package let type: String

    package init(hash: String, name: String, type: String) {
        self.hash = hash
        self.name = name
        self.type = type
    }
}

/// A file that is attached to a row and not uploaded yet.
package struct PendingUpload: Sendable {
    package enum Outcome: Sendable {
        /// The service has the file.
        case sent
        /// The service rejected the file permanently.
        case rejected(String)
        /// The upload failed, or its outcome is unknown.
        case failed
    }

    package let number: Int64
    package let entity: String
    package let key: PrimaryKeyValue
    /// The remote ID of the row, or its primary key if the service does not have the row.
    package let remoteID: JSONValue
    package let attribute: String
    /// The key path of the attribute in a record.
    package let path: [String]
    package let content: FileContent
    /// Why the service rejected the file; nil if it did not.
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

/// The file of an attribute: the pending upload and the stored name.
package struct FileAttributeState: Sendable {
    /// The hash of the pending upload, if there is one.
    package let pendingHash: String?
    /// The stored value of the attribute, which is the name of the file at the service.
    package let name: String?
    /// The remote ID of the row, or its primary key if the service does not have the row.
    package let remoteID: JSONValue

    package init(pendingHash: String?, name: String?, remoteID: JSONValue) {
        self.pendingHash = pendingHash
        self.name = name
        self.remoteID = remoteID
    }
}
