public import Foundation
public import SyncCore
import SyncStore

/// A service that stores files of rows: a field of a record has the name of a file.
public protocol FileService: SyncService {
    /// Returns the URL of a file of a row. The bytes at a URL never change: another file has another URL.
    ///
    /// - Parameter id: The remote ID of the row.
    func reference(to name: String, of entity: String, id: JSONValue) throws -> URL
    /// Downloads a file.
    ///
    /// - Throws: ``FileError``, ``ServiceError``.
    func download(_ reference: URL) async throws -> Data
    /// Uploads a file and sets the field of the row. It replaces the former file.
    ///
    /// - Parameters:
    ///   - name: The name of the file. It begins with a tag that identifies the bytes.
    ///   - type: The media type, such as `image/png`.
    ///   - id: The remote ID of the row.
    ///   - path: The key path of the field.
    /// - Returns: `applied` with the row. ``sentName(of:)`` of the value of its field begins with the name that was
    ///   sent.
    func upload(
        _ data: Data, named name: String, type: String, to entity: String, id: JSONValue, path: [String]
    ) async throws -> PushOutcome
    /// Returns the part of a field's value that begins with the name that was sent. A service may add to the name, or
    /// store a URL. The engine finds an uploaded file by it after a lost response.
    func sentName(of name: String) -> String
}

extension FileService {
    /// Returns the name unchanged.
    public func sentName(of name: String) -> String { name }
}

/// A file to upload, for a field of a row.
struct FileUpload {
    /// The entity of the row.
    let entity: String
    /// The remote ID of the row.
    let id: JSONValue
    /// The key path of the field.
    let path: [String]
    /// The name of the file. It begins with a tag that identifies the bytes.
    let name: String
    /// The media type, such as `image/png`.
    let type: String
    /// The bytes.
    let data: Data
}

/// A multipart form with one file (RFC 7578).
struct MultipartForm {
    let data: Data
    let type: String

    /// - Parameter field: The name of the field.
    init(_ field: String, _ file: FileUpload) {
        let boundary = "sync-\(UUID().uuidString)"
        let head = """
            --\(boundary)\r
            Content-Disposition: form-data; name="\(Self.quoted(field))"; filename="\(Self.quoted(file.name))"\r
            Content-Type: \(Self.line(file.type))\r
            \r

            """
        data = Data(head.utf8) + file.data + Data("\r\n--\(boundary)--\r\n".utf8)
        type = "multipart/form-data; boundary=\(boundary)"
    }

    /// Browsers escape quotation marks this way.
    private static func quoted(_ text: String) -> String {
        line(text).replacingOccurrences(of: "\"", with: "%22")
    }

    /// A header is one line, so control characters become spaces.
    private static func line(_ text: String) -> String {
        String(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
    }
}

// MARK: - Uploads of an engine run

// Files are uploaded after their rows. The engine stores no request for an upload: the name of a file identifies its
// bytes. So a later run finds out from the row whether a file was uploaded before the process ended.
extension EngineRun {
    /// The most transient failures in one run. After them, the other files wait for the next run.
    private static let mostFailures = 2

    func upload() async throws {
        guard let files = settings.fileStore, let service = service as? any FileService else { return }
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
        try await files.removePending(except: Set(store.pendingFiles().map(\.content.hash)))
    }

    private func upload(_ file: PendingUpload, _ files: FileStore, _ service: any FileService) async throws {
        guard let url = await files.pendingFile(file.content.hash) else {
            return try await block(file, "the file is no longer in the folder for files; attach it again")
        }
        switch try checked(await service.fetch([file.remoteID], of: file.entity).first, file.remoteID, file.entity) {
        case .found(let row)?:
            if let name = file.name(in: row, of: service) {
                return try await recordUploaded(file, name, row, files, service)
            }
        case .notFound?, nil: return  // The run that finds that out deletes the row.
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
            case .retry(let after): throw ServiceError.retryLater(after: after, "the service asks to retry later")
            case .notFound: return
            case .applied(nil), .conflict, .alreadyExists, .silent:
                throw ServiceError.unreachable("the response does not tell the outcome of the upload")
            }
        } catch ServiceError.payloadTooLarge {
            try await block(file, "the service rejected the file as too large (HTTP 413)")
        }
    }

    /// Stores the uploaded name. The row is written as if it was pulled.
    private func recordUploaded(
        _ file: PendingUpload, _ name: String, _ row: RemoteRecord, _ files: FileStore, _ service: any FileService
    ) async throws {
        do {
            try await files.sent(file.content.hash, as: service.reference(to: name, of: file.entity, id: row.id))
        } catch let refusal as RowAddress.Refusal {
            return try await block(file, refusal.description)
        }
        let page = PulledPage(
            entity: file.entity, rows: [PulledPage.Record(row)], end: .none, isListing: false, serverTime: nil)
        _ = try await store.apply(page, lease)
        try await store.complete(file, .sent, lease)
        recordChanges(of: file.entity) { $0.pushedUpdates += 1 }
    }

    private func block(_ file: PendingUpload, _ reason: String) async throws {
        try await store.complete(file, .rejected(reason), lease)
        recordChanges(of: file.entity) { $0.blockedChanges += 1 }
    }
}

extension PendingUpload {
    /// The beginning of the name at the service: the first 16 digits of the hash.
    fileprivate var tag: String { String(content.hash.prefix(16)) }

    /// Returns the name that the row has, if it belongs to these bytes.
    fileprivate func name(in row: RemoteRecord, of service: any FileService) -> String? {
        guard case .string(let name)? = row.record?.value(at: path), service.sentName(of: name).hasPrefix(tag)
        else { return nil }
        return name
    }
}
