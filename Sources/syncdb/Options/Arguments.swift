import ArgumentParser
import Foundation
import Sync

/// A number of bytes such as `--max-size 4G`, with K, M, G or T for powers of 1024.
struct ByteCount: ExpressibleByArgument, Equatable {
    let bytes: Int

    /// The default limit, 2 GiB: larger than usual responses, and small enough for memory.
    static let standard = ByteCount(bytes: 2 << 30)

    private static let units: [Character: Int] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]

    init(bytes: Int) { self.bytes = bytes }

    init?(argument: String) {
        var digits = argument.uppercased()[...]
        if digits.hasSuffix("IB") { digits = digits.dropLast(2) } else if digits.hasSuffix("B") { digits.removeLast() }
        let unit = digits.last.flatMap { Self.units[$0] }
        if unit != nil { digits.removeLast() }
        guard digits.allSatisfy(\.isASCII), let number = Int(digits), number > 0 else { return nil }
        let (bytes, isTooLarge) = number.multipliedReportingOverflow(by: unit ?? 1)
        guard !isTooLarge else { return nil }
        self.bytes = bytes
    }

    /// The value in the format of the argument, such as `2G`.
    var defaultValueDescription: String {
        let unit = Self.units.sorted { $0.value > $1.value }.first { bytes % $0.value == 0 }
        return unit.map { "\(bytes / $0.value)\($0.key)" } ?? "\(bytes)"
    }
}

/// A duration such as `--busy-timeout 30s`: a number of milliseconds, or with the unit `ms`, `s` or `m`.
struct TimeoutArgument: ExpressibleByArgument, Equatable {
    let milliseconds: Int32

    private static let units: [(suffix: String, milliseconds: Double)] = [("ms", 1), ("s", 1000), ("m", 60_000)]

    init?(argument: String) {
        guard let milliseconds = Self.milliseconds(argument, plain: 1).flatMap(Int32.init(exactly:)) else { return nil }
        self.milliseconds = milliseconds
    }

    /// Returns the milliseconds of a duration; nil for an invalid argument.
    ///
    /// - Parameter plain: The number of milliseconds that the argument `1` stands for.
    static func milliseconds(_ argument: String, plain: Double) -> Double? {
        let text = argument.lowercased()
        let unit = units.first { text.hasSuffix($0.suffix) }
        let digits = text.dropLast(unit?.suffix.count ?? 0)
        guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
            let number = Double(digits)
        else { return nil }
        return (number * (unit?.milliseconds ?? plain)).rounded()
    }
}

// MARK: - Paths

extension URL {
    /// Creates the URL of a path on the command line.
    ///
    /// Foundation shortens relative paths: `link/../model.json` becomes `model.json`. That is another file if the link
    /// leads to another folder. The initializer prevents this, so that a command reads the file that it has checked.
    init(argument path: String) {
        let isShortened = path.utf8.first != UInt8(ascii: "/") && path.contains("..")
        self.init(fileURLWithPath: isShortened ? FileManager.default.currentDirectoryPath + "/" + path : path)
    }
}

// MARK: - Completions

/// The shell completions of arguments.
enum Completions {
    static let payload = CompletionKind.file(extensions: ["json", "ndjson", "jsonl", "gz"])
    static let database = CompletionKind.file()
    static let model = CompletionKind.file()

    /// The completion with the entities of the database or model on the command line.
    static let entity = CompletionKind.custom { words, _, _ in entities(in: words) }

    /// Returns the concrete entities of the database or model on the command line, or of the database in the
    /// environment. Returns an empty list if neither can be read, because a completion cannot print errors.
    static func entities(in words: [String]) -> [String] {
        guard FileDescriptorLimit.areEnough else { return [] }
        let path = value(of: "--database", in: words) ?? value(of: "-d", in: words) ?? NamedDatabase.ofEnvironment
        let databaseModel = path.flatMap { path in
            try? DataStack(reading: URL(fileURLWithPath: path), transformers: .optional).model
        }
        let model =
            databaseModel
            ?? value(of: "--model", in: words).flatMap { path in try? SyncModel(contentsOf: URL(fileURLWithPath: path))
            }
        return model?.entities.filter { !$0.isAbstract }.map(\.name) ?? []
    }

    private static func value(of option: String, in words: [String]) -> String? {
        for (word, next) in zip(words, words.dropFirst()) where word == option { return expanded(next) }
        return words.first { $0.hasPrefix(option + "=") }.map { expanded(String($0.dropFirst(option.count + 1))) }
    }

    /// Removes quotes and expands a tilde, because the shell passes words unexpanded.
    private static func expanded(_ word: String) -> String {
        let unquoted = word.trimmingCharacters(in: CharacterSet(charactersIn: "'\""))
        return (unquoted as NSString).expandingTildeInPath
    }
}
