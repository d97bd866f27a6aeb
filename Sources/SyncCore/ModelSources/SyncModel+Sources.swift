public import Foundation

extension SyncModel {
    /// Reads a model file and checks it.
    ///
    /// - Parameter url: A schema file (`.json`), a Core Data model (`.xcdatamodel`), its `contents` file, or a
    ///   versioned one (`.xcdatamodeld`), of which the current version is taken.
    /// - Throws: ``SyncError`` `unreadableFile` if there is no such file, `unreadableModel` if it is no model (with
    ///   line and column if it is malformed), `invalidModel` with every problem found.
    public init(contentsOf url: URL) throws {
        let file = try ModelFile(at: url)
        switch file.format {
        case .schema: try self.init(schema: file.data)
        case .coreData: try self.init(coreData: file.data)
        }
    }

    /// Reads a model from the text of a schema file.
    ///
    /// ```json
    /// { "entities": { "User": { "attributes": { "id": "integer", "name": "string" } } } }
    /// ```
    ///
    /// - Throws: ``SyncError`` `unreadableModel` with line and column if the text is not JSON, `invalidModel` with
    ///   every problem found.
    public init(schema data: Data) throws {
        let json: JSONValue
        do {
            json = try JSONValue(parsing: data)
        } catch var error as SyncError {
            error.code = .unreadableModel
            throw error
        }
        try self.init(SchemaReader.draft(of: json))
    }

    /// Reads a model from the XML of a Core Data model, the file called `contents`.
    ///
    /// - Throws: ``SyncError`` `unreadableModel` with line and column if the text is not such XML, `invalidModel` with
    ///   every problem found.
    public init(coreData data: Data) throws {
        try self.init(CoreDataModel.draft(of: data))
    }

    /// The model as a schema file, which reads back as an equal model.
    ///
    /// Entities are in name order, members in that of the model; what has its default value is left out.
    public func schemaFile() -> Data {
        Data((PrettyJSON.text(SchemaWriter.json(of: self), openLevels: SchemaWriter.openLevels) + "\n").utf8)
    }
}
