public import Foundation
public import SyncCore

/// A file that becomes what a member of a row holds.
public struct FileUpload: Sendable, Hashable {
    /// The entity of the row.
    public var entity: String
    /// What the service calls the row.
    public var id: JSONValue
    /// The keys that lead to the member.
    public var path: [String]
    /// The name, beginning with what tells these bytes from others.
    public var name: String
    /// Its type, such as `image/png`.
    public var type: String
    /// The bytes.
    public var data: Data

    /// A file that becomes what a member of a row holds.
    public init(entity: String, id: JSONValue, path: [String], name: String, type: String, data: Data) {
        self.entity = entity
        self.id = id
        self.path = path
        self.name = name
        self.type = type
        self.data = data
    }
}
