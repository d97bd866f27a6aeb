public import Foundation
public import SyncCore
import SyncStore

/// A service that keeps files with its rows: a member of a record holds the name of one.
public protocol FileService: SyncService {
    /// Where a file is that a row names.
    ///
    /// - Parameter id: What the service calls the row.
    func reference(to name: String, of entity: String, id: JSONValue) throws -> FileReference
    /// The bytes of a file.
    ///
    /// - Throws: ``FileError``, ``ServiceError``.
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

/// A form with one file (RFC 7578).
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

    /// As browsers do.
    private static func quoted(_ text: String) -> String {
        line(text).replacingOccurrences(of: "\"", with: "%22")
    }

    /// A header is one line.
    private static func line(_ text: String) -> String {
        String(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
    }
}

// MARK: - EngineRun+Files

// Files go after the rows that hold them. Nothing is kept of a request: the name that a file gets says which bytes it has, so that
// one that was sent before the process died is known by the row.
extension EngineRun {
    /// So many files may fail for a reason that passes until the others wait for the next run too.
    private static let mostFailures = 2

    func upload() async throws {
        guard let files = settings.files, let service = service as? any FileService else { return }
        var failures = 0
        for file in try await store.filesToSend(entities, lease) where failures < Self.mostFailures {
            try Task.checkCancellation()
            do {
                try await upload(file, files, service)
            } catch let failure as ServiceError where failure.isTransient {
                // Those that failed less go first, the next time.
                try await store.settle(file, .failed, lease)
                failures += 1
            }
        }
        try await files.removeWaiting(except: Set(store.waitingFiles().map(\.content.hash)))
    }

    private func upload(_ file: PendingUpload, _ files: FileStore, _ service: any FileService) async throws {
        guard let url = await files.waitingFile(file.content.hash) else {
            return try await park(file, "its bytes are not in the folder of files any more: attach it again")
        }
        switch try checked(await service.fetch([file.remoteID], of: file.entity).first, file.remoteID, file.entity) {
        case .found(let row)?:
            if let name = file.name(in: row, of: service) { return try await adopt(file, name, row, files, service) }
        case .absent?, nil: return  // The run that finds that out deletes the row.
        case .forbidden?: return try await park(file, FetchOutcome.forbiddenReason)
        }
        let upload = FileUpload(
            entity: file.entity, id: file.remoteID, path: file.path, name: "\(file.tag)-\(file.content.name)",
            type: file.content.type, data: try await files.contentsOf(url))
        do {
            switch try await service.upload(upload) {
            case .applied(let row?):
                guard let name = file.name(in: row, of: service) else {
                    return try await park(
                        file,
                        "the service did not keep it: is '\(file.path.joined(separator: "."))' a field for a file?")
                }
                try await adopt(file, name, row, files, service)
            case .rejected(let reason): try await park(file, service.hidingSecrets(in: reason))
            case .unknown(let reason): throw ServiceError.unreachable(reason)
            case .retry(let after): throw ServiceError.busy(after: after, "it asked to try again later")
            case .gone: return
            case .applied(nil), .conflict, .exists, .silent:
                throw ServiceError.unreachable("the answer does not say what became of it")
            }
        } catch ServiceError.tooLarge {
            try await park(file, "the service takes no file of this size")
        }
    }

    /// The row gets the name as with any pull.
    private func adopt(
        _ file: PendingUpload, _ name: String, _ row: RemoteRecord, _ files: FileStore, _ service: any FileService
    ) async throws {
        do {
            try await files.sent(file.content.hash, as: service.reference(to: name, of: file.entity, id: row.id))
        } catch let refusal as RowAddress.Refusal {
            return try await park(file, refusal.description)
        }
        let page = PulledPage(
            entity: file.entity, rows: [PulledPage.Record(row)], end: .none, isListing: false, serverTime: nil)
        _ = try await store.apply(page, lease)
        try await store.settle(file, .sent, lease)
        recordChanges(of: file.entity) { $0.sent += 1 }
    }

    private func park(_ file: PendingUpload, _ reason: String) async throws {
        try await store.settle(file, .refused(reason), lease)
        recordChanges(of: file.entity) { $0.parked += 1 }
    }
}

extension PendingUpload {
    /// What its name at the service begins with.
    fileprivate var tag: String { String(content.hash.prefix(16)) }

    /// The name that a row holds, if it is that of these bytes.
    fileprivate func name(in row: RemoteRecord, of service: any FileService) -> String? {
        guard case .string(let name)? = row.record?.value(at: path), service.sentName(of: name).hasPrefix(tag)
        else { return nil }
        return name
    }
}
