public import Foundation

/// A folder for the files that are attached to rows. The folder contains the files to upload. Up to a size limit, the
/// folder also contains downloaded and uploaded files.
///
/// ```swift
/// var configuration = SyncEngine.Configuration()
/// configuration.fileStore = FileStore(folder: support.appendingPathComponent("files"), limit: 200_000_000)
/// ```
/// If several concurrent calls need the same file, the file store downloads the file only once. Files to upload do not
/// count toward the limit. The only copy of such a file may be in the folder, so choose a folder that the system does
/// not purge. Use one folder for each database.
public actor FileStore {
    private let contents: URL
    private let references: URL
    private let pendingFolder: URL
    private let limit: Int
    private let now: @Sendable () -> Date
    private var downloads: [URL: Task<URL, any Error>] = [:]

    /// Creates a file store in a folder.
    ///
    /// - Parameters:
    ///   - folder: The URL of the folder. If the folder does not exist, the file store creates the folder before adding
    ///     the first file.
    ///   - limit: The largest total size of downloaded and uploaded files, in bytes. Above the limit, the file store
    ///     removes the least recently used files. The file that was added last always stays.
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

    /// Returns the local URL of a file. If the folder does not contain the file, the store first downloads the file. A
    /// later download may remove the file, so open the file soon.
    ///
    /// - Throws: ``FileError`` or ``ServiceError``.
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

    /// Returns the local URL of a downloaded file, or nil if the folder does not contain the file.
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

    /// Stores the contents of a file to upload.
    ///
    /// - Returns: The SHA-256 hash of the contents, in hexadecimal digits.
    func storePending(_ data: Data) throws -> String {
        let hash = SHA256.text(data)
        try write(data, to: pendingFolder.appendingPathComponent(hash))
        return hash
    }

    /// Returns the local URL of a file to upload; nil if the folder does not have it. Also returns nil if `hash` is not
    /// a hash, because the text could be a path outside the folder.
    func pendingFile(_ hash: String) -> URL? {
        guard SHA256.isText(hash) else { return nil }
        let url = pendingFolder.appendingPathComponent(hash)
        return FileManager.default.fileExists(atPath: url.path) ? url : nil
    }

    /// Copies an uploaded file to the downloaded files, so that the store does not download it.
    func sent(_ hash: String, as reference: URL) throws {
        guard let url = pendingFile(hash) else { return }
        _ = try store(contentsOf(url), for: reference)
    }

    /// Removes files that no row is to upload any more. Files that are less than a day old stay, because a call may be
    /// about to attach them.
    ///
    /// - Parameter hashes: The hashes of the files to keep.
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

    /// Removes the least recently used downloaded files until the total size is within the limit.
    ///
    /// - Parameter newest: The hash of a file that stays in any case.
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

    /// Writes a file atomically, and creates its folder if needed.
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

/// An error of a download or of a ``FileStore``.
public enum FileError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The service does not have the file at this path, or hides the file from the user. The record may have another
    /// file by now. The next sync pulls the name of that file.
    case missing(String)
    /// The origin of this URL is not the origin of the service. The engine does not download the file at the URL,
    /// because the request would contain the credentials.
    case elsewhere(String)
    /// The folder of the ``FileStore`` cannot be read or written, for example because the disk is full. The string is
    /// the reason.
    case unusableFolder(String)

    /// A message that states the error.
    public var description: String {
        switch self {
        case .missing(let place): "the service has no file '\(place)', or hides it from the user"
        case .elsewhere(let address): "the file is not at the service but at '\(address)'; it is not downloaded"
        case .unusableFolder(let reason):
            "cannot use the folder of the FileStore; check that it exists and that the disk has space: \(reason)"
        }
    }

    /// The value of ``description``, for use as `localizedDescription`.
    public var errorDescription: String? { description }
}

// MARK: - Hash

/// The SHA-256 hash (FIPS 180-4).
enum SHA256 {
    private static let rounds: [UInt32] = constants { pow($0, 1.0 / 3) }
    private static let start: [UInt32] = Array(constants { $0.squareRoot() }.prefix(8))

    /// Returns whether a text is a hash in the format of ``text(_:)``: 64 lowercase hexadecimal digits.
    static func isText(_ text: String) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// Returns the hash of data as 64 lowercase hexadecimal digits.
    static func text(_ data: Data) -> String {
        digest(data).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    private static func digest(_ data: Data) -> [UInt8] {
        var state = start
        var words = [UInt32](repeating: 0, count: 64)
        data.withUnsafeBytes { bytes in
            for block in 0..<(bytes.count / 64) { compress(bytes[(block * 64)..<(block * 64 + 64)], &state, &words) }
        }
        var rest = Array(data.suffix(data.count % 64)) + [0x80]
        while rest.count % 64 != 56 { rest.append(0) }
        rest += bigEndian(UInt64(data.count) * 8, count: 8)
        rest.withUnsafeBytes { bytes in
            for block in 0..<(bytes.count / 64) { compress(bytes[(block * 64)..<(block * 64 + 64)], &state, &words) }
        }
        return state.flatMap { bigEndian(UInt64($0), count: 4) }
    }

    private static func compress(
        _ block: Slice<UnsafeRawBufferPointer>, _ state: inout [UInt32], _ words: inout [UInt32]
    ) {
        let first = block.startIndex
        for index in 0..<16 {
            let at = first + index * 4
            words[index] =
                UInt32(block[at]) << 24 | UInt32(block[at + 1]) << 16 | UInt32(block[at + 2]) << 8
                | UInt32(block[at + 3])
        }
        for index in 16..<64 {
            let (early, late) = (words[index - 15], words[index - 2])
            let low = turned(early, 7) ^ turned(early, 18) ^ (early >> 3)
            let high = turned(late, 17) ^ turned(late, 19) ^ (late >> 10)
            words[index] = words[index - 16] &+ low &+ words[index - 7] &+ high
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in 0..<64 {
            let high = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
            let one = h &+ high &+ ((e & f) ^ (~e & g)) &+ rounds[index] &+ words[index]
            let low = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)
            let two = low &+ ((a & b) ^ (a & c) ^ (b & c))
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ one, c, b, a, one &+ two)
        }
        for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] = state[index] &+ value }
    }

    private static func turned(_ word: UInt32, _ bits: UInt32) -> UInt32 { word >> bits | word << (32 - bits) }

    private static func bigEndian(_ value: UInt64, count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (UInt64($0) * 8)) }
    }

    /// Applies a function to each of the first 64 primes, and returns the first 32 bits of the fractional part of each
    /// value.
    private static func constants(_ function: (Double) -> Double) -> [UInt32] {
        let primes = (2...).lazy.filter { number in !(2..<number).contains { number % $0 == 0 } }
        return primes.prefix(64).map { prime in
            let value = function(Double(prime))
            return UInt32((value - value.rounded(.down)) * 4_294_967_296)
        }
    }
}
