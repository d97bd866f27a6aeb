/// Where the records of a payload are and what they are of: compiled once for a call.
package struct PayloadLayout: Sendable {
    /// One list of records.
    package struct List: Sendable {
        /// The entity of its records; that of the call where a record itself says which.
        package var entity: Int
        /// How the paths of its records begin.
        package var label = ""
        /// Its place among the roots of the plan; -1 if its records are only mentioned.
        var root: Int
        /// The slot that the names of its records fill.
        package var nameSlot = -1
    }

    let form: JSONReader.Form
    let keyPath: [String]
    package let lists: [List]
    /// What the types of JSON:API resources are; nil in other forms.
    package let types: ResourceTypes?
    /// Whether lists may stand in `edges` or `nodes`.
    package let readsConnections: Bool
    /// Whether the payload is one list at the end of a key path, or a record a line.
    package var isPlain: Bool {
        if case .places = form { return false }
        return true
    }

    /// - Throws: ``SyncError`` `invalidOption`, `unknownEntity`, `unknownAttribute`.
    package init(_ options: SyncOptions, of entity: CompiledEntity, in model: CompiledModel) throws {
        try options.checkLayout()
        keyPath = options.keyPath
        readsConnections = options.form == .graphQL
        if !options.entities.isEmpty {
            let found = try options.entities.map { (path: $0.path, entity: try model.entity(named: $0.entity)) }
            let paths = found.map { options.keyPath + $0.path }
            let labels = paths.map { $0.joined(separator: ".") }
            form = .places(.lists(at: paths, labels: labels))
            lists = found.enumerated().map { List(entity: $1.entity.id, label: labels[$0], root: $0) }
            types = nil
            return
        }
        if let names = options.keyedBy {
            guard let slot = names.slot(in: entity, of: model) else { throw Self.noAttribute(names, entity, model) }
            form = .places(.members(at: options.keyPath))
            lists = [List(entity: entity.id, root: 0, nameSlot: slot)]
            types = nil
            return
        }
        switch options.form {
        case .json, .ndjson:
            form = options.form == .ndjson ? .ndjson : .json
            lists = [List(entity: entity.id, root: 0)]
            types = nil
        case .jsonAPI:
            form = .places(.jsonAPI)
            lists = [
                List(entity: entity.id, label: "data", root: 0), List(entity: entity.id, label: "included", root: -1),
            ]
            types = ResourceTypes(model)
        case .graphQL:
            form = .places(.graphQL(at: options.keyPath))
            lists = [List(entity: entity.id, root: 0)]
            types = nil
        }
    }

    private static func noAttribute(
        _ names: MemberNames, _ entity: CompiledEntity, _ model: CompiledModel
    ) -> SyncError {
        guard case .attribute(let name) = names else {
            return SyncError(
                .keylessEntity, "'\(entity.name)' has no primary key of one attribute that names could fill: say which",
                entity: entity.name)
        }
        let known = ShortList(entity.slots.map { model[entity.table].attributes[$0].name }).text
        return SyncError(
            .unknownAttribute, "\(entity.name) has no attribute '\(name)' that names could fill; it has \(known)",
            entity: entity.name)
    }

    /// A reader of a payload, or of its pieces.
    package func reader(_ bytes: UnsafeBufferPointer<UInt8> = .init(start: nil, count: 0)) -> JSONReader {
        JSONReader(bytes, form: form, keyPath: isPlain ? keyPath : [])
    }

    /// Whether resources may have another key than their `id`. Then a document has to be looked through for them before any
    /// is mapped, so that it is not cut.
    var hasOtherKeys: Bool { types?.otherwiseKeyed.isEmpty == false }

    /// What cuts a payload into pieces.
    func splitter(pieceSize: Int) -> RecordSplitter {
        RecordSplitter(
            form: form, keyPath: isPlain ? keyPath : [], pieceSize: hasOtherKeys ? Int.max : pieceSize)
    }
}
