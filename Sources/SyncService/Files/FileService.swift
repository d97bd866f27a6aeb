public import Foundation
public import SyncCore
import SyncStore

/// A service that also stores the files that are attached to rows. A field of a record contains the name or the URL of
/// a file.
public protocol FileService: SyncService {
    /// Returns the URL of a row's file. The contents at a URL must never change, because the ``FileStore`` caches the
    /// contents. A new file for the same field needs another URL.
    ///
    /// - Parameters:
    ///   - name: The value of the field: the name or the URL of the file.
    ///   - id: The remote ID of the row.
    /// - Throws: ``RowAddress/Refusal`` if the ID or the name cannot be part of a URL.
    func reference(to name: String, of entity: String, id: JSONValue) throws -> URL
    /// Downloads the file at a URL that ``reference(to:of:id:)`` returned.
    ///
    /// - Throws: ``FileError/missing(_:)`` if the service does not have the file; ``FileError/elsewhere(_:)`` for a URL
    ///   of another origin; ``ServiceError``.
    func download(_ reference: URL) async throws -> Data
    /// Uploads a file, and sets a field of a record to the name of the file. The new file replaces the former file of
    /// the field.
    ///
    /// - Parameters:
    ///   - name: The name of the file. The name begins with the first 16 hexadecimal digits of the SHA-256 hash of the
    ///     contents.
    ///   - type: The media type, such as `image/png`.
    ///   - id: The remote ID of the row.
    ///   - path: The key path of the field.
    /// - Returns: ``PushOutcome/applied(_:)`` with the changed record, or the outcome of a failed upload. For the new
    ///   value of the field, ``sentName(of:)`` must return the uploaded name.
    /// - Throws: ``ServiceError``. After ``ServiceError/payloadTooLarge``, the engine does not upload the file again.
    func upload(
        _ data: Data, named name: String, type: String, to entity: String, id: JSONValue, path: [String]
    ) async throws -> PushOutcome
    /// Returns the name with which a file was uploaded, given the value of the field. The value may be this name with a
    /// prefix, or a URL. To identify a file, the engine uses the 16 hexadecimal digits at the beginning of the name.
    func sentName(of name: String) -> String
}

extension FileService {
    /// Returns the name unchanged.
    public func sentName(of name: String) -> String { name }
}

/// A multipart form with one file (RFC 7578).
struct MultipartForm {
    let data: Data
    let type: String

    /// Creates a form with a file of this name, media type and contents.
    ///
    /// - Parameter field: The name of the form field.
    init(_ field: String, fileName: String, fileType: String, _ contents: Data) {
        let boundary = "sync-\(UUID().uuidString)"
        let head = """
            --\(boundary)\r
            Content-Disposition: form-data; name="\(Self.quoted(field))"; filename="\(Self.quoted(fileName))"\r
            Content-Type: \(Self.line(fileType))\r
            \r

            """
        data = Data(head.utf8) + contents + Data("\r\n--\(boundary)--\r\n".utf8)
        type = "multipart/form-data; boundary=\(boundary)"
    }

    /// Escapes quotation marks as `%22`, as browsers do.
    private static func quoted(_ text: String) -> String {
        line(text).replacingOccurrences(of: "\"", with: "%22")
    }

    /// Replaces control characters with spaces, because a header is one line.
    private static func line(_ text: String) -> String {
        String(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
    }
}

// MARK: - Uploads of an engine run

// The engine uploads files after their rows. It stores no request for an upload, because the name of a file identifies
// its bytes. If the process ends during an upload, the next run checks whether the record has the name.
extension OutboxRun {
    /// The number of transient failures after which a run uploads no more files. The next run uploads the rest.
    private static let mostFailures = 2

    func upload() async throws {
        guard let files = configuration.fileStore, let service = service as? any FileService else { return }
        var failures = 0
        for file in try await store.filesToSend(entities, lease) where failures < Self.mostFailures {
            try Task.checkCancellation()
            do {
                try await upload(file, files, service)
            } catch let failure as ServiceError where failure.isTransient {
                // The next run uploads the files with fewer failures first.
                try await store.complete(file, .failed, lease)
                failures += 1
            }
        }
        try await files.removePending(except: store.pendingFileHashes())
    }

    private func upload(_ file: PendingUpload, _ files: FileStore, _ service: any FileService) async throws {
        guard let url = await files.pendingFile(file.content.hash) else {
            return try await block(file, "the file is no longer in the folder of the FileStore; attach it again")
        }
        let response = try await service.fetch([file.remoteID], of: file.entity).first
        switch try run.checked(response, file.remoteID, file.entity) {
        case .found(let row)?:
            if let name = file.name(in: row, of: service) {
                return try await recordUploaded(file, name, row, files, service)
            }
        case .notFound?, nil: return  // A later pull or reconciliation deletes the row.
        case .forbidden?: return try await block(file, FetchOutcome.forbiddenReason)
        }
        let data = try await files.contentsOf(url)
        do {
            switch try await service.upload(
                data, named: "\(file.tag)-\(file.content.name)", type: file.content.type, to: file.entity,
                id: file.remoteID, path: file.path)
            {
            case .applied(let row?):
                guard let name = file.name(in: row, of: service) else {
                    return try await block(
                        file,
                        "the service did not store the file; check that "
                            + "'\(file.path.joined(separator: "."))' is a file field"
                    )
                }
                try await recordUploaded(file, name, row, files, service)
            case .rejected(let reason): try await block(file, service.hidingSecrets(in: reason))
            case .unknown(let reason): throw ServiceError.unreachable(reason)
            case .retry(let after): throw ServiceError.retryLater(after: after, "it postponed the upload")
            case .notFound: return
            case .applied(nil), .conflict, .alreadyExists, .silent:
                throw ServiceError.unreachable("the response does not state the outcome of the upload")
            }
        } catch ServiceError.payloadTooLarge {
            try await block(file, "the service rejected the file as too large (HTTP 413)")
        }
    }

    /// Stores the name of an uploaded file by applying the record like a pulled one.
    private func recordUploaded(
        _ file: PendingUpload, _ name: String, _ row: RemoteRecord, _ files: FileStore, _ service: any FileService
    ) async throws {
        do {
            try await files.sent(file.content.hash, as: service.reference(to: name, of: file.entity, id: row.id))
        } catch let refusal as RowAddress.Refusal {
            return try await block(file, refusal.description)
        }
        _ = try await store.apply(PulledPage([row], of: file.entity), lease)
        try await store.complete(file, .sent, lease)
        run.recordChanges(of: file.entity) { $0.pushedUpdates += 1 }
    }

    private func block(_ file: PendingUpload, _ reason: String) async throws {
        try await store.complete(file, .rejected(reason), lease)
        run.recordChanges(of: file.entity) { $0.blockedChanges += 1 }
    }
}

extension PendingUpload {
    /// The beginning of the uploaded name: the first 16 digits of the hash of the bytes.
    fileprivate var tag: String { String(content.hash.prefix(16)) }

    /// Returns the name of the file in a record; nil if the name does not begin with the tag of this file.
    fileprivate func name(in row: RemoteRecord, of service: any FileService) -> String? {
        guard case .string(let name)? = row.record?.value(at: path), service.sentName(of: name).hasPrefix(tag)
        else { return nil }
        return name
    }
}
