public import Foundation

extension Model {
    /// Reads a model: a schema file, a Core Data model (`.xcdatamodel`), or the current version of a versioned one
    /// (`.xcdatamodeld`).
    ///
    /// - Throws: ``SyncError`` `unreadableFile`, `unreadableModel`, `malformedJSON`, or `invalidModel` with every
    ///   problem and its path.
    public init(contentsOf url: URL) throws {
        switch url.pathExtension {
        case "xcdatamodeld": try self.init(contentsOf: Self.currentVersion(of: url))
        case "xcdatamodel": try self.init(coreData: Self.data(url.appendingPathComponent("contents")))
        default:
            let data = try Self.data(url)
            let isXML = data.first { !" \n\r\t".utf8.contains($0) } == UInt8(ascii: "<")
            if isXML { try self.init(coreData: data) } else { try self.init(schema: data) }
        }
    }

    /// Reads the XML of a Core Data model.
    ///
    /// - Throws: ``SyncError`` `unreadableModel` with line and column, or `invalidModel` with every problem.
    public init(coreData: Data) throws {
        try self.init(entities: CoreDataModel.entities(in: coreData))
    }

    private static func data(_ url: URL) throws -> Data {
        do {
            return try Data(contentsOf: url)
        } catch {
            throw SyncError(
                .unreadableFile, "the model '\(url.path)' cannot be read", underlying: error.localizedDescription)
        }
    }

    /// What `.xccurrentversion` names; without it the only version, or the last by name.
    private static func currentVersion(of folder: URL) throws -> URL {
        let versions: [String]
        do {
            versions = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                .filter { $0.hasSuffix(".xcdatamodel") }.sorted()
        } catch {
            throw SyncError(
                .unreadableFile, "the model '\(folder.path)' cannot be read", underlying: error.localizedDescription)
        }
        let pointer = folder.appendingPathComponent(".xccurrentversion")
        var current = versions.last
        if FileManager.default.fileExists(atPath: pointer.path) {
            let list = try? PropertyListSerialization.propertyList(from: data(pointer), options: [], format: nil)
            current = (list as? [String: Any])?["_XCCurrentVersionName"] as? String
        }
        guard let current, versions.contains(current) else {
            throw SyncError(
                .unreadableModel,
                "'\(folder.path)' has no current version; it has \(versions.isEmpty ? "none" : versions.joined(separator: ", "))")
        }
        return folder.appendingPathComponent(current)
    }
}
