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
    /// Has a row hold a file in the place of the one that it held.
    ///
    /// - Returns: `applied` with the row, whose member holds a name from which ``sentName(of:)`` finds the beginning of the one that was
    ///   sent.
    func upload(_ file: FileUpload) async throws -> PushOutcome
    /// What a file was sent as, by what a row holds of it: where a service has a name of its own for it, or its address, the part
    /// that begins as the name that was sent. By that a file is known whose answer was lost.
    func sentName(of name: String) -> String
}

extension FileService {
    /// The name as it is.
    public func sentName(of name: String) -> String { name }
}
