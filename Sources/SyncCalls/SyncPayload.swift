public import Foundation
public import SyncCore
package import SyncStore

/// A value that a sync reads a payload from: `Data` (UTF-8 JSON), the `URL` of a file, ``JSONValue``, dictionaries from
/// `JSONSerialization` (`[[String: Any]]`), and ``SyncPayload``, which streams and `Encodable` values make.
public protocol SyncPayloadConvertible {
    /// Returns the payload.
    ///
    /// - Throws: An error if the value has no JSON. The sync throws it and changes nothing.
    func syncPayload() throws -> SyncPayload
}

/// The JSON of one sync: in memory, in a file, or from a stream.
public struct SyncPayload {
    enum Source {
        case data(Data)
        case value(JSONValue)
        case dictionaries([[String: Any]])
        case file(URL)
        case stream(@Sendable (SyncCall, _ isDryRun: Bool) async throws -> SyncResult)
    }

    let source: Source
}

extension SyncPayload: SyncPayloadConvertible {}
extension Data: SyncPayloadConvertible {}
extension JSONValue: SyncPayloadConvertible {}
extension [[String: Any]]: SyncPayloadConvertible {}
extension URL: SyncPayloadConvertible {}

extension SyncPayloadConvertible {
    /// Returns the payload of UTF-8 JSON, of JSON values, of dictionaries, or of a file.
    ///
    /// Dictionaries need not be sendable: the sync maps them on the caller's thread before it first suspends. A file is read
    /// in chunks, so that memory does not grow with its size. A type of an app returns one of these payloads.
    ///
    /// - Throws: ``SyncError`` `unreadableFile` for a URL that is not one of a file.
    public func syncPayload() throws -> SyncPayload {
        switch self {
        case let payload as SyncPayload: return payload
        case let json as Data: return SyncPayload(source: .data(json))
        case let value as JSONValue: return SyncPayload(source: .value(value))
        case let url as URL:
            guard url.isFileURL else {
                throw SyncError(
                    .unreadableFile, "'\(url.absoluteString)' is not the URL of a file; download it and pass its data")
            }
            return SyncPayload(source: .file(url))
        case let records as [[String: Any]]: return SyncPayload(source: .dictionaries(records))
        default: throw SyncError(.invalidOption, "a \(Self.self) is no payload: implement syncPayload()")
        }
    }
}

extension SyncPayloadConvertible where Self == SyncPayload {
    /// A payload of JSON values, such as literals.
    public static func json(_ value: JSONValue) -> SyncPayload { SyncPayload(source: .value(value)) }

    /// A payload that arrives in buffers, such as the body of a response.
    ///
    /// ```swift
    /// try await Sync.changes(.buffers(response.body), inEntity: "User", stack: stack)
    /// ```
    /// - Parameter stream: UTF-8 JSON, cut anywhere. It is read in a separate task, no faster than the sync writes. It must not use
    ///   the store, and should end when its task is cancelled.
    public static func buffers<Stream: AsyncSequence & Sendable>(_ stream: Stream) -> SyncPayload
    where Stream.Element: ContiguousBytes {
        SyncPayload(
            source: .stream { call, isDryRun in
                try await call.changes(chunks: stream, total: nil, isDryRun: isDryRun)
            })
    }

    /// A payload that arrives byte by byte. Buffers, where a stream has them, are faster: ``buffers(_:)``.
    ///
    /// ```swift
    /// let (bytes, _) = try await URLSession.shared.bytes(from: url)
    /// try await Sync.changes(.bytes(bytes), inEntity: "User", stack: stack)
    /// ```
    public static func bytes<Stream: AsyncSequence & Sendable>(_ stream: Stream) -> SyncPayload
    where Stream.Element == UInt8 {
        .buffers(BufferedBytes(bytes: stream))
    }

    /// The JSON of values, such as those that a client of a service decoded. Dates are written as ISO 8601.
    ///
    /// - Throws: `EncodingError`.
    public static func encoding(_ values: [some Encodable]) throws -> SyncPayload {
        SyncPayload(source: .value(try JSONCodedValue.json(values)))
    }
}

extension SyncCall {
    /// Maps a payload and writes the diff, or computes it for a dry run.
    nonisolated(nonsending) func run(
        _ payload: some SyncPayloadConvertible, isDryRun: Bool = false
    ) async throws -> SyncResult {
        switch try payload.syncPayload().source {
        case .data(let json): try await isDryRun ? dryRun(json) : changes(json)
        case .value(let json):
            try await isDryRun ? dryRun { try $0.map(json) } : changes { try $0.map(json) }
        case .dictionaries(let records):
            try await isDryRun ? dryRunHere { try $0.map(records) } : changesHere { try $0.map(records) }
        case .file(let url):
            try await changes(file: url, isDryRun: isDryRun)
        case .stream(let changes): try await changes(self, isDryRun)
        }
    }

    private nonisolated(nonsending) func changes(file: URL, isDryRun: Bool) async throws -> SyncResult {
        let buffers = try FileBuffers(file)
        return try await changes(chunks: buffers, total: buffers.size, isDryRun: isDryRun)
    }

    /// Maps a payload and writes the diff in the caller's transaction, or computes it for a dry run.
    ///
    /// - Throws: ``SyncError`` `invalidOption` for a stream.
    package func run(
        _ payload: some SyncPayloadConvertible, by writer: any StoreWriter, isDryRun: Bool = false
    ) throws -> SyncResult {
        switch try payload.syncPayload().source {
        case .data(let json): return try changes(json, by: writer, isDryRun: isDryRun)
        case .value(let json): return try changes(by: writer, isDryRun: isDryRun) { try $0.map(json) }
        case .dictionaries(let records):
            return try changes(by: writer, isDryRun: isDryRun) { try $0.map(records) }
        case .file(let url): return try changes(FileBuffers.contents(of: url), by: writer, isDryRun: isDryRun)
        case .stream:
            throw SyncError(
                .invalidOption,
                "a stream cannot be read inside a transaction; pass Data, or sync outside the transaction")
        }
    }
}
