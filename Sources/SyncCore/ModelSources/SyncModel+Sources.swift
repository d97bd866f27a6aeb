public import Foundation

extension SyncModel {
    /// Creates a model from a file, and validates the model.
    ///
    /// - Parameter url: The URL of a schema file (`.json`), or of a Core Data model: an `.xcdatamodel` folder, its
    ///   `contents` file, or an `.xcdatamodeld` folder. The initializer reads the current version of a versioned model.
    /// - Throws: ``SyncError`` `unreadableFile` if the file cannot be read; `unreadableModel` if the file is not a
    ///   model; `invalidModel` with all problems found. The error of a malformed file has a line and a column if the
    ///   position is known.
    public init(contentsOf url: URL) throws {
        let file = try ModelFile(at: url)
        switch file.format {
        case .schema: try self.init(schemaData: file.data)
        case .coreData: try self.init(coreDataModel: file.data)
        }
    }

    /// Creates a model from the contents of a schema file, and validates the model.
    ///
    /// ```json
    /// { "entities": { "User": { "attributes": { "id": "integer", "name": "string" } } } }
    /// ```
    ///
    /// - Parameter data: JSON in UTF-8.
    /// - Throws: ``SyncError`` `unreadableModel`, with line and column, if the data is not JSON; `invalidModel` with
    ///   all problems found.
    public init(schemaData data: Data) throws {
        let json: JSONValue
        do {
            json = try JSONValue(parsing: data)
        } catch var error as SyncError {
            error.code = .unreadableModel
            throw error
        }
        try self.init(SchemaReader.draft(of: json))
    }

    /// Creates a model from the XML in the `contents` file of a Core Data model, and validates the model.
    ///
    /// - Throws: ``SyncError`` `unreadableModel` if the data is not the XML of a Core Data model; `invalidModel` with
    ///   all problems found. The error of malformed XML has a line and a column if the position is known.
    public init(coreDataModel data: Data) throws {
        try self.init(CoreDataModel.draft(of: data))
    }

    /// Returns the model as the contents of a schema file. A model that is read from the contents is equal, unless
    /// attributes have a check for a Swift type.
    ///
    /// Entities are sorted by name, and their members are in the order of the model. Members with default values are
    /// omitted.
    package func schemaFile() -> Data {
        Data((PrettyJSON.text(SchemaWriter.json(of: self), openLevels: SchemaWriter.openLevels) + "\n").utf8)
    }
}

/// The contents of a model file, with the format of the file.
package struct ModelFile {
    enum Format { case schema, coreData }

    let data: Data
    let format: Format

    init(at url: URL) throws {
        let file = try Self.locate(url)
        data = try FileContents.read(file.path)
        format = try Self.format(of: file, data)
    }

    private static func format(of file: URL, _ data: Data) throws -> Format {
        if file.pathExtension == "json" { return .schema }
        // Skip white space and a byte order mark. The first byte after them tells the format.
        let first = data.first { ![.blank, .tab, .newline, .carriageReturn, 0xEF, 0xBB, 0xBF].contains($0) }
        switch first {
        case .openBrace: return .schema
        case UInt8(ascii: "<"): return .coreData
        default:
            throw SyncError(
                .unreadableModel,
                "'\(file.path)' is neither a schema file nor a Core Data model source")
        }
    }

    // MARK: Folders

    /// Returns the file that the model at a URL is read from, and the file that names its current version. The second
    /// file may not exist. A file inside a model folder may be a symbolic link.
    package static func files(at url: URL) throws -> [URL] {
        // The file that names the current version may not exist.
        [try locate(url), url.appendingPathComponent(versionFile)]
    }

    private static let versionFile = ".xccurrentversion"

    private static func locate(_ url: URL) throws -> URL {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
            throw SyncError(.unreadableFile, "no model file at '\(url.path)'")
        }
        guard isFolder.boolValue else { return url }
        switch url.pathExtension {
        case "xcdatamodel": return url.appendingPathComponent("contents")
        case "xcdatamodeld": return try currentVersion(of: url).appendingPathComponent("contents")
        case "momd", "mom":
            throw SyncError(
                .unreadableModel,
                "'\(url.path)' is a compiled Core Data model; use its source (.xcdatamodeld)")
        default:
            throw SyncError(.unreadableModel, "the folder '\(url.path)' is not a Core Data model")
        }
    }

    /// Returns the model that `.xccurrentversion` names. Without this file, returns the last model in the order of
    /// their names.
    private static func currentVersion(of folder: URL) throws -> URL {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let models = versions.filter { $0.hasSuffix(".xcdatamodel") }
            .sorted { $0.compare($1, options: .numeric) == .orderedAscending }
        guard let last = models.last else {
            throw SyncError(.unreadableModel, "'\(folder.path)' contains no .xcdatamodel")
        }
        guard versions.contains(versionFile) else { return folder.appendingPathComponent(last) }
        let plist = try? FileContents.read(folder.appendingPathComponent(versionFile).path)
        let values = plist.flatMap { try? PropertyListSerialization.propertyList(from: $0, options: [], format: nil) }
        guard let name = (values as? [String: Any])?["_XCCurrentVersionName"] as? String else {
            throw SyncError(.unreadableModel, "the .xccurrentversion file of '\(folder.path)' names no version")
        }
        guard models.contains(name) else {
            throw SyncError(
                .unreadableModel,
                "'\(folder.path)' does not contain its current version '\(name)'")
        }
        return folder.appendingPathComponent(name)
    }
}
