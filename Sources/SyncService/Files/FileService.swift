public import Foundation
public import SyncCore

/// A service that keeps files with its rows: a member of a record holds the name of one.
public protocol FileService: SyncService {
    /// Where a file is that a row names.
    ///
    /// - Parameter id: What the service calls the row.
    func reference(to name: String, of entity: String, id: JSONValue) throws -> FileReference
    /// The bytes of a file.
    ///
    /// - Throws: ``FileFailure``, ``ServiceFailure``.
    func download(_ reference: FileReference) async throws -> Data
    /// Has a row hold a file in the place of the one that it held. The name that it gets begins as the one that was sent.
    func upload(_ file: FileUpload) async throws -> PushOutcome
}
