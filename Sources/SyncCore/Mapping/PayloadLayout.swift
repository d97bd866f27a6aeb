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
    package let isPlain: Bool

    /// - Throws: ``SyncError`` `invalidOption`, `unknownEntity`, `unknownAttribute`.
    package init(_ options: SyncOptions, of entity: CompiledEntity, in model: CompiledModel) throws {
        try options.checkLayout()
        keyPath = options.keyPath
        isPlain = options.isPlain
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
            form = options.form == .ndjson ? .ndjson : .places(.list(at: options.keyPath))
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
        _ names: KeyedBy, _ entity: CompiledEntity, _ model: CompiledModel
    ) -> SyncError {
        guard case .attribute(let name) = names else {
            return SyncError(
                .keylessEntity, "'\(entity.name)' has no primary key of one attribute that names could fill: say which",
                entity: entity.name)
        }
        let known = TruncatedList(entity.slots.map { model[entity.table].attributes[$0].name }).text
        return SyncError(
            .unknownAttribute, "\(entity.name) has no attribute '\(name)' that names could fill; it has \(known)",
            entity: entity.name)
    }

    /// A reader of a payload, or of its pieces.
    package func reader(_ bytes: UnsafeBufferPointer<UInt8> = .init(start: nil, count: 0)) -> JSONReader {
        JSONReader(bytes, form: form)
    }

    /// Whether resources may have another key than their `id`. Then a document has to be looked through for them before any
    /// is mapped, so that it is not cut.
    var hasOtherKeys: Bool { types?.otherwiseKeyed.isEmpty == false }

    /// What cuts a payload into pieces.
    func splitter(pieceSize: Int) -> RecordChunker {
        RecordChunker(form: form, pieceSize: hasOtherKeys ? Int.max : pieceSize)
    }
}

/// How the records of a list stand in JSON.
package enum ListLayout {
    case array
    /// An object: each member is a record, or says by its name which.
    case members
    /// The arrays of a GraphQL connection.
    case nodes, edges
}

/// A list that is no array under its key.
package struct NestedListLayout {
    /// Its token: an array, or an object of members.
    package let token: Int
    package let layout: ListLayout
    /// Whether it has all there is, and not the first page of it.
    var isWhole = true
    /// Whether its members are `true`, so that only their names say something.
    var hasNamesOnly = false
}

extension NestedListLayout {
    /// An object whose members are records, or all `true`; nil if they are something else.
    package init?(membersOf object: Int, _ tape: JSONTape) {
        var objects = false
        var flags = false
        var key = object + 1
        while key < Int(tape.tokens[object].next) {
            switch tape.tokens[key + 1].kind {
            case .null: break
            case .object: objects = true
            case .true_: flags = true
            default: return nil
            }
            key = Int(tape.tokens[key + 1].next)
        }
        if objects, flags { return nil }
        self.init(token: object, layout: .members, hasNamesOnly: flags)
    }

    /// The `nodes` or `edges` of a connection, whose records are all objects; nil if the object is none.
    package init?(connection object: Int, _ tape: JSONTape, in bytes: UnsafeBufferPointer<UInt8>) {
        let nodes = tape.member(named: "nodes", of: object, in: bytes)
        guard let list = nodes ?? tape.member(named: "edges", of: object, in: bytes),
            tape.tokens[list].kind == .array
        else { return nil }
        var element = list + 1
        var hasNulls = false
        while element < Int(tape.tokens[list].next) {
            switch tape.tokens[element].kind {
            case .null: hasNulls = true
            case .object:
                if nodes == nil, let node = tape.member(named: "node", of: element, in: bytes),
                    tape.tokens[node].kind == .null
                {
                    hasNulls = true
                }
            default: return nil
            }
            element = Int(tape.tokens[element].next)
        }
        func hasMore(_ flag: StaticString, _ page: Int) -> Bool {
            guard let flag = tape.member(named: flag, of: page, in: bytes) else { return false }
            return tape.tokens[flag].kind == .true_
        }
        var isWhole = !hasNulls
        if let page = tape.member(named: "pageInfo", of: object, in: bytes), tape.tokens[page].kind == .object {
            isWhole = isWhole && !hasMore("hasNextPage", page) && !hasMore("hasPreviousPage", page)
        }
        self.init(token: list, layout: nodes == nil ? .edges : .nodes, isWhole: isWhole)
    }
}

/// Where a record of a payload of values was found that is not simply an element of it.
struct RecordLocation: Sendable {
    var list: Int
    var index: Int
    var name: String?

    /// The same of a record that is laid out, its name after it.
    func place(in tape: JSONTape) -> PayloadMapper.Place {
        .init(token: 0, name: name == nil ? -1 : tape.tokens.count - 1, list: list, index: index)
    }
}

extension JSONReader {
    /// Where the record last read is.
    package var recordPlace: PayloadMapper.Place {
        .init(token: recordToken, name: nameToken, list: list, index: recordIndex)
    }
}

extension PayloadGraph {
    /// Where there are lists inside a lone object without a key.
    mutating func recordLists(_ paths: [[String]], _ reader: JSONReader) {
        fieldPath = reader.fieldPath
        listPaths = RecordLocations.fields(paths)
    }

    /// What a reader found of the payload beside its records.
    mutating func record(_ reader: JSONReader, _ options: SyncOptions) {
        for list in reader.loneLists where roots.indices.contains(list) { roots[list].isLoneObject = true }
        page = reader.page
        // A first page speaks only for what it has, unless more of them are to come.
        if page.isPart { isComplete = false }
    }
}

extension SyncOptions {
    /// Whether the records of a payload are simply the elements of one list.
    var isPlain: Bool { (form == .json || form == .ndjson) && keyedBy == nil && entities.isEmpty }
}
