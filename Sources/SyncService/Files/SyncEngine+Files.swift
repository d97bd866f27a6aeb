public import Foundation
public import SyncCore
import SyncStore

/// Files of rows. An attribute holds the name that the service gave a file; `EngineSettings.files` has the bytes.
extension SyncEngine {
    /// Attaches a file to a row: its bytes are kept, and sent once the service has the row, by this run or a later one. Then the attribute
    /// holds the name that the service gave it. Another one for the same attribute takes its place; to remove a file, set the
    /// attribute to nil.
    ///
    /// - Parameters:
    ///   - name: What it is called, such as `cat.png`.
    ///   - type: Its type, such as `image/png`.
    /// - Throws: ``SyncError`` `invalidOption` where there is no `EngineSettings.files`, or the service keeps no files;
    ///   `unknownAttribute`, `rowNotFound`; ``FileFailure``.
    public func attach(
        _ data: Data, named name: String, type: String = "application/octet-stream", to entity: String, key: JSONValue,
        attribute: String
    ) async throws {
        let (files, _) = try fileKeepers()
        try await store.checkFile(of: entity, key: key, attribute: attribute)
        let hash = try await files.keepWaiting(data)
        try await store.attach(
            AttachedContent(hash: hash, name: name, type: type), to: entity, key: key, attribute: attribute)
    }

    /// Where the file is that an attribute of a row holds: the one that waits to be sent, or the service's, downloaded unless it is here;
    /// nil if it holds none.
    ///
    /// - Throws: As ``attach(_:named:type:to:key:attribute:)``; ``ServiceFailure``.
    public func file(of entity: String, key: JSONValue, attribute: String) async throws -> URL? {
        let (files, service) = try fileKeepers()
        let held = try await store.file(of: entity, key: key, attribute: attribute)
        if let hash = held.waiting, let url = await files.waitingFile(hash) { return url }
        guard let name = held.name, !name.isEmpty else { return nil }
        let reference = try service.reference(to: name, of: entity, id: held.remoteID)
        return try await files.file(reference, from: service)
    }

    /// The files that the service does not have yet, those that it refused among them.
    public func waitingFiles() async throws -> [WaitingFile] { try await store.waitingFiles().map(WaitingFile.init) }

    private func fileKeepers() throws -> (FileStore, any FileService) {
        guard let service = service as? any FileService else {
            throw SyncError(.invalidOption, "the service keeps no files")
        }
        guard let files = settings.files else {
            throw SyncError(.invalidOption, "there is no place for files: set EngineSettings.files to a FileStore")
        }
        return (files, service)
    }
}

extension WaitingFile {
    init(_ file: AttachedFile) {
        self.init(
            entity: file.entity, key: file.key, attribute: file.attribute, name: file.content.name, reason: file.reason)
    }
}
