/// The lists of records in a payload, with their entities. A call creates it once.
package struct PayloadLayout: Sendable {
    /// One list of records.
    package struct List: Sendable {
        /// The entity of the records, or the entity of the call if each record states its entity.
        package var entity: Int
        /// The first part of the JSON paths of the records, such as `data`.
        package var label = ""
        /// The index of the list in ``PayloadGraph/roots``; -1 if its records are not root records.
        var root: Int
        /// The slot that object keys fill; -1 if the records are not members of an object.
        package var nameSlot = -1
    }

    let form: JSONReader.Form
    let keyPath: [String]
    package let lists: [List]
    /// The entities of JSON:API types; nil in other formats.
    package let types: ResourceTypes?
    /// Whether a list can be a GraphQL connection, with its records in `edges` or `nodes`.
    package let readsConnections: Bool
    /// Whether the payload is one array or record at the end of a key path, or one record on each line.
    package let isPlain: Bool

    /// Creates the layout that the options describe.
    ///
    /// - Throws: ``SyncError`` `invalidOption`, `unknownEntity`, `unknownAttribute`, `keylessEntity`.
    package init(_ options: SyncOptions, of entity: CompiledEntity, in model: CompiledModel) throws {
        try options.checkLayout()
        keyPath = options.keyPath.keys
        isPlain = options.isPlain
        readsConnections = options.format == .graphQL
        if !options.entities.isEmpty {
            let found = try options.entities.map { (path: $0.path, entity: try model.entity(named: $0.entity)) }
            let paths = found.map { options.keyPath.keys + $0.path }
            let labels = paths.map { $0.joined(separator: ".") }
            form = .locations(.lists(at: paths, labels: labels))
            lists = found.enumerated().map { List(entity: $1.entity.id, label: labels[$0], root: $0) }
            types = nil
            return
        }
        if let names = options.keyedBy {
            guard let slot = names.slot(in: entity, of: model) else { throw Self.noAttribute(names, entity, model) }
            form = .locations(.members(at: options.keyPath.keys))
            lists = [List(entity: entity.id, root: 0, nameSlot: slot)]
            types = nil
            return
        }
        switch options.format {
        case .json, .ndjson:
            form = options.format == .ndjson ? .ndjson : .locations(.list(at: options.keyPath.keys))
            lists = [List(entity: entity.id, root: 0)]
            types = nil
        case .jsonAPI:
            form = .locations(.jsonAPI)
            lists = [
                List(entity: entity.id, label: "data", root: 0), List(entity: entity.id, label: "included", root: -1),
            ]
            types = ResourceTypes(model)
        case .graphQL:
            form = .locations(.graphQL(at: options.keyPath.keys))
            lists = [List(entity: entity.id, root: 0)]
            types = nil
        }
    }

    private static func noAttribute(
        _ names: KeyedBy, _ entity: CompiledEntity, _ model: CompiledModel
    ) -> SyncError {
        guard case .attribute(let name) = names else {
            return SyncError(
                .keylessEntity,
                "'\(entity.name)' has no primary key of one attribute; set 'keyedBy' to the attribute that stores the object keys",
                entity: entity.name)
        }
        let known = TruncatedList(entity.slots.map { model[entity.table].attributes[$0].name }).text
        return SyncError(
            .unknownAttribute,
            "unknown attribute '\(name)' of \(entity.name) in 'keyedBy'; available: \(known)",
            entity: entity.name)
    }

    /// Returns a reader of the payload. For a payload in chunks, omit the bytes.
    package func reader(_ bytes: UnsafeBufferPointer<UInt8> = .init(start: nil, count: 0)) -> JSONReader {
        JSONReader(bytes, form: form)
    }

    /// Whether resources can have a primary key other than their `id`. The keys are then read before any record is
    /// mapped, so the document is not cut into chunks.
    var hasOtherKeys: Bool { !otherwiseKeyed.isEmpty }

    /// The entities of such resources. See ``ResourceTypes/otherwiseKeyed``.
    var otherwiseKeyed: [Set<Int>] { types?.otherwiseKeyed ?? [] }

    /// Returns a chunker for the payload.
    func chunker(chunkSize: Int) -> RecordChunker {
        RecordChunker(form: form, chunkSize: hasOtherKeys ? Int.max : chunkSize)
    }
}

/// The JSON container of a list.
package enum ListLayout {
    case array
    /// An object whose members are records, or whose object keys are IDs.
    case members
    /// The arrays of a GraphQL connection.
    case nodes, edges
}

/// A list in a relationship's value. Its container is an array or an object.
package struct NestedListLayout {
    /// The token of the container.
    package let token: Int
    package let layout: ListLayout
    /// Whether the list is complete; false for a GraphQL connection with nulls or with other pages.
    var isWhole = true
    /// Whether the members are `true` instead of records, so that only their names matter.
    var hasNamesOnly = false
}

extension NestedListLayout {
    /// Creates a list from an object whose members are all objects, or all `true`; nil for other objects. Members that
    /// are null are allowed.
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

    /// Creates a list from the `nodes` or `edges` of a connection. Nil if there is no such array, or if an element is
    /// neither an object nor null. A list with nulls or with other pages is incomplete.
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

/// The location of a record in a payload that is mapped from JSON values and is not plain.
struct RecordLocation: Sendable {
    var list: Int
    var index: Int
    var name: String?

    /// Returns the location of the record on its tape. The token of its object key follows the record.
    func tokenLocation(in tape: JSONTape) -> PayloadMapper.TokenLocation {
        .init(token: 0, name: name == nil ? -1 : tape.tokens.count - 1, list: list, index: index)
    }
}

extension JSONReader {
    /// The location of the record that was read last.
    package var tokenLocation: PayloadMapper.TokenLocation {
        .init(token: recordToken, name: nameToken, list: list, index: recordIndex)
    }
}

extension PayloadGraph {
    /// Stores the paths of the lists in a single object without a key. An error suggests them as key paths.
    mutating func recordLists(_ paths: [[String]], _ reader: JSONReader) {
        fieldPath = reader.fieldPath
        listPaths = RecordLocations.fields(paths)
    }

    /// Stores the pagination information that the reader found, and which lists are a single object or null.
    mutating func record(_ reader: JSONReader, _ options: SyncOptions) {
        for list in reader.singleRecordLists where roots.indices.contains(list) { roots[list].isSingleRecord = true }
        page = reader.page
        // A payload that omits records is not a snapshot of its scope.
        if page.isPart { isComplete = false }
    }
}

extension SyncOptions {
    /// Whether the payload is one array or record at the end of a key path, or one record on each line.
    var isPlain: Bool { (format == .json || format == .ndjson) && keyedBy == nil && entities.isEmpty }
}
