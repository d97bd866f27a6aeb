public import Foundation

/// A folder of files of a service, stored by their hash: downloaded files up to a limit, and files to upload.
///
/// ```swift
/// var settings = EngineSettings()
/// settings.files = FileStore(folder: caches.appendingPathComponent("files"), limit: 200_000_000)
/// ```
/// A downloaded file needs no further request, and concurrent calls share one download. Files are written atomically.
/// Files to upload do not count for the limit and are never removed, so choose a folder that the system does not purge.
public actor FileStore {
    private let contents: URL
    private let references: URL
    private let pendingFolder: URL
    private let limit: Int
    private let now: @Sendable () -> Date
    private var downloads: [URL: Task<URL, any Error>] = [:]

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - folder: The folder. It is created with the first file.
    ///   - limit: The most bytes of downloaded files. The least recently used files are removed first.
    public init(folder: URL, limit: Int = 500_000_000) {
        self.init(folder: folder, limit: limit, now: { Date() })
    }

    init(folder: URL, limit: Int, now: @escaping @Sendable () -> Date) {
        contents = folder.appendingPathComponent("contents")
        references = folder.appendingPathComponent("references")
        pendingFolder = folder.appendingPathComponent("waiting")
        self.limit = limit
        self.now = now
    }

    // MARK: Downloads

    /// Returns the URL of a file in the folder, and downloads the file if needed. The file may be removed to make room,
    /// so open it soon.
    ///
    /// - Throws: ``FileError``, ``ServiceError``.
    package func file(_ reference: URL, from service: any FileService) async throws -> URL {
        if let url = try cached(reference) { return url }
        if let download = downloads[reference] { return try await download.value }
        let download = Task {
            defer { downloads[reference] = nil }
            let data = try await service.download(reference)
            return try store(data, for: reference)
        }
        downloads[reference] = download
        return try await download.value
    }

    /// Returns the URL of a file in the folder; nil if it was not downloaded.
    package func cached(_ reference: URL) throws -> URL? {
        guard let hash = try? String(contentsOf: referenceURL(reference), encoding: .utf8), SHA256.isText(hash) else {
            return nil
        }
        let url = contents.appendingPathComponent(hash)
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        try use(url)
        return url
    }

    private func store(_ data: Data, for reference: URL) throws -> URL {
        let hash = SHA256.text(data)
        let url = contents.appendingPathComponent(hash)
        try write(data, to: url)
        try use(url)
        // The reference is written last, so that it never names a missing file.
        try write(Data(hash.utf8), to: referenceURL(reference))
        try limitSize(preserving: hash)
        return url
    }

    private func referenceURL(_ reference: URL) -> URL {
        references.appendingPathComponent(SHA256.text(Data(reference.absoluteString.utf8)))
    }

    // MARK: Files to upload

    /// Stores bytes to upload.
    ///
    /// - Returns: Their hash.
    func storePending(_ data: Data) throws -> String {
        let hash = SHA256.text(data)
        try write(data, to: pendingFolder.appendingPathComponent(hash))
        return hash
    }

    /// Returns the URL of bytes to upload; nil if they were removed. Also nil for a text that is no hash, which could
    /// be a path out of the folder.
    func pendingFile(_ hash: String) -> URL? {
        guard SHA256.isText(hash) else { return nil }
        let url = pendingFolder.appendingPathComponent(hash)
        return FileManager.default.fileExists(atPath: url.path) ? url : nil
    }

    /// Copies uploaded bytes to the downloaded files, so that they need no download.
    func sent(_ hash: String, as reference: URL) throws {
        guard let url = pendingFile(hash) else { return }
        _ = try store(contentsOf(url), for: reference)
    }

    /// Removes bytes that no row needs any more. Bytes of the last day stay, because a call may be about to attach
    /// them.
    func removePending(except hashes: Set<String>) throws {
        for file in try files(in: pendingFolder)
        where !hashes.contains(file.url.lastPathComponent) && now().timeIntervalSince(file.used) > 86_400 {
            try changing { try FileManager.default.removeItem(at: file.url) }
        }
    }

    func contentsOf(_ url: URL) throws -> Data { try changing { try Data(contentsOf: url) } }

    // MARK: Removing

    private struct Entry {
        let url: URL
        let size: Int
        let used: Date
    }

    /// Removes the least recently used files above the limit, but never the newest one.
    private func limitSize(preserving newest: String) throws {
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
                // Another process may have removed the file.
                guard let attributes = try? FileManager.default.attributesOfItem(atPath: url.path) else { return nil }
                return Entry(
                    url: url, size: (attributes[.size] as? NSNumber)?.intValue ?? 0,
                    used: attributes[.modificationDate] as? Date ?? .distantPast)
            }
        }
    }

    /// Writes atomically.
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

/// An error of a file.
public enum FileError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The service does not have the file, or the user must not see it. The row may name another file by now: sync.
    case missing(String)
    /// The URL of the file belongs to another host, so no request is sent: it would contain the credentials.
    case elsewhere(String)
    /// The folder cannot be read or written. It may be missing, or the disk may be full.
    case unusableFolder(String)

    /// The description of the error.
    public var description: String {
        switch self {
        case .missing(let place): "the service has no file '\(place)', or hides it from the user"
        case .elsewhere(let address): "the file is not at the service but at '\(address)'; it is not downloaded"
        case .unusableFolder(let reason):
            "cannot use the folder for files; check that it exists and has space: \(reason)"
        }
    }

    /// The description.
    public var errorDescription: String? { description }
}
