public import Foundation

/// Files of a service in a folder, each there once, under the hash of what is in it: those that were downloaded, as far as there is
/// room, and those that wait to be sent.
///
/// ```swift
/// var settings = EngineSettings()
/// settings.files = FileStore(folder: caches.appendingPathComponent("files"), limit: 200_000_000)
/// ```
/// A file that is there is had without a request; several who want one that is not there wait for the same download. A file is whole
/// or not there, whenever the process is killed. Those that wait to be sent do not count for the limit, and stay: the folder
/// belongs where the system removes nothing.
public actor FileStore {
    private let contents: URL
    private let references: URL
    private let waiting: URL
    private let limit: Int
    private let now: @Sendable () -> Date
    private var downloads: [FileReference: Task<URL, any Error>] = [:]

    /// - Parameters:
    ///   - folder: Where; it is made when the first file comes.
    ///   - limit: How many bytes downloaded files may have together; those that were not used for longest go first.
    public init(folder: URL, limit: Int = 500_000_000) {
        self.init(folder: folder, limit: limit, now: { Date() })
    }

    init(folder: URL, limit: Int, now: @escaping @Sendable () -> Date) {
        contents = folder.appendingPathComponent("contents")
        references = folder.appendingPathComponent("references")
        waiting = folder.appendingPathComponent("waiting")
        self.limit = limit
        self.now = now
    }

    // MARK: Downloads

    /// Where a file is in the folder: as it is there, or downloaded. It stays until there is no room, so open it soon.
    ///
    /// - Throws: ``FileError``, ``ServiceError``.
    public func file(_ reference: FileReference, from service: any FileService) async throws -> URL {
        if let url = try cached(reference) { return url }
        if let download = downloads[reference] { return try await download.value }
        let download = Task {
            defer { downloads[reference] = nil }
            let data = try await service.download(reference)
            return try keep(data, for: reference)
        }
        downloads[reference] = download
        return try await download.value
    }

    /// Where a file is in the folder; nil if it is not there.
    public func cached(_ reference: FileReference) throws -> URL? {
        guard let hash = try? String(contentsOf: place(of: reference), encoding: .utf8), SHA256.isText(hash) else {
            return nil
        }
        let url = contents.appendingPathComponent(hash)
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        try use(url)
        return url
    }

    private func keep(_ data: Data, for reference: FileReference) throws -> URL {
        let hash = SHA256.text(data)
        let url = contents.appendingPathComponent(hash)
        try write(data, to: url)
        try use(url)
        // Last: who finds a reference finds the bytes.
        try write(Data(hash.utf8), to: place(of: reference))
        try makeRoom(for: hash)
        return url
    }

    private func place(of reference: FileReference) -> URL {
        references.appendingPathComponent(SHA256.text(Data(reference.url.absoluteString.utf8)))
    }

    // MARK: Waiting to be sent

    /// Keeps bytes that are to be sent.
    ///
    /// - Returns: Their hash.
    func keepWaiting(_ data: Data) throws -> String {
        let hash = SHA256.text(data)
        try write(data, to: waiting.appendingPathComponent(hash))
        return hash
    }

    /// Bytes that are to be sent; nil if they were removed, and for what is no hash: it would be a path that leads out of the folder.
    func waitingFile(_ hash: String) -> URL? {
        guard SHA256.isText(hash) else { return nil }
        let url = waiting.appendingPathComponent(hash)
        return FileManager.default.fileExists(atPath: url.path) ? url : nil
    }

    /// The service has them: they need not be downloaded.
    func sent(_ hash: String, as reference: FileReference) throws {
        guard let url = waitingFile(hash) else { return }
        _ = try keep(contentsOf(url), for: reference)
    }

    /// Removes bytes that nobody waits to send any more: those that were kept a day ago, because somebody may be about to say so.
    func removeWaiting(except hashes: Set<String>) throws {
        for file in try files(in: waiting)
        where !hashes.contains(file.url.lastPathComponent) && now().timeIntervalSince(file.used) > 86_400 {
            try changing { try FileManager.default.removeItem(at: file.url) }
        }
    }

    func contentsOf(_ url: URL) throws -> Data { try changing { try Data(contentsOf: url) } }

    // MARK: Room

    private struct Entry {
        let url: URL
        let size: Int
        let used: Date
    }

    /// Removes what was not used for longest, but never the newest.
    private func makeRoom(for newest: String) throws {
        let files = try files(in: contents)
        var size = files.reduce(0) { $0 + $1.size }
        guard size > limit else { return }
        var removed: Set<String> = []
        for file in files.sorted(by: { $0.used < $1.used })
        where size > limit && file.url.lastPathComponent != newest {
            try changing { try FileManager.default.removeItem(at: file.url) }
            removed.insert(file.url.lastPathComponent)
            size -= file.size
        }
        for reference in try self.files(in: references) {
            guard let hash = try? String(contentsOf: reference.url, encoding: .utf8), removed.contains(hash) else {
                continue
            }
            try changing { try FileManager.default.removeItem(at: reference.url) }
        }
    }

    private func use(_ url: URL) throws {
        try changing { try FileManager.default.setAttributes([.modificationDate: now()], ofItemAtPath: url.path) }
    }

    private func files(in folder: URL) throws -> [Entry] {
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try changing {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).compactMap { name in
                let url = folder.appendingPathComponent(name)
                // It may have gone meanwhile: another process has the folder too.
                guard let attributes = try? FileManager.default.attributesOfItem(atPath: url.path) else { return nil }
                return Entry(
                    url: url, size: (attributes[.size] as? NSNumber)?.intValue ?? 0,
                    used: attributes[.modificationDate] as? Date ?? .distantPast)
            }
        }
    }

    /// Whole, or not at all.
    private func write(_ data: Data, to url: URL) throws {
        try changing {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try data.write(to: url, options: .atomic)
        }
    }

    private func changing<T>(_ body: () throws -> T) throws -> T {
        do { return try body() } catch { throw FileError.unusableFolder(error.localizedDescription) }
    }
}

/// Where a service has a file, whose bytes never change: another file has another reference.
public struct FileReference: Sendable, Hashable {
    /// The address, of the service itself.
    public let url: URL

    /// A file at an address.
    public init(_ url: URL) { self.url = url }
}

/// Why a file cannot be had or kept.
public enum FileError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The service does not have it, or does not show it to the user. The row may name another one by now: sync.
    case missing(String)
    /// Its address is not one of the service, so it is not asked for: credentials are not sent to another.
    case elsewhere(String)
    /// The folder cannot be read or written: is it there, and is there room?
    case unusableFolder(String)

    /// What happened, in a sentence.
    public var description: String {
        switch self {
        case .missing(let place): "the service has no file '\(place)', or does not show it to the user"
        case .elsewhere(let address): "the file is not at the service but at '\(address)', which is not asked"
        case .unusableFolder(let reason):
            "the folder of files cannot be used; is it there, and is there room? \(reason)"
        }
    }

    /// The description, so that `localizedDescription` is it too.
    public var errorDescription: String? { description }
}
