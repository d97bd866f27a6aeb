/// The diagnostics of mapping, up to a limit. For a value of the wrong type, a strict sync throws an error instead.
struct MappingDiagnostics {
    private let model: CompiledModel
    let isStrict: Bool
    private let includesValuesInErrors: Bool
    private(set) var reported: [SyncDiagnostic] = []
    /// The number of diagnostics beyond the limit.
    private(set) var omitted = 0

    init(of model: CompiledModel, _ options: SyncOptions) {
        self.model = model
        isStrict = options.isStrict
        includesValuesInErrors = options.includesValuesInErrors
    }

    /// Returns whether there is room for another diagnostic. If not, counts it as omitted, so that the caller need not
    /// create its path and message.
    mutating func admitsOne() -> Bool {
        if reported.count < SyncResult.diagnosticLimit { return true }
        omitted += 1
        return false
    }

    mutating func add(
        _ kind: SyncDiagnostic.Kind, _ entity: Int, key: String? = nil, path: String, _ message: String
    ) {
        reported.append(.init(kind, entity: model.entities[entity].name, key: key, path: path, message: message))
    }

    /// Sets the key of the diagnostics from index `first` on. The values of a record are read before its key is known.
    mutating func name(_ key: String, from first: Int) {
        for index in first..<reported.count { reported[index].key = key }
    }

    /// Returns the error that a strict sync throws for a value of the wrong type.
    func error(_ entity: Int, path: String, _ message: String) -> SyncError {
        SyncError(.typeMismatch, message, entity: model.entities[entity].name, path: path)
    }

    // MARK: Message texts

    /// Returns a description of a value: its JSON type. For a string or number, it is the start of the text if errors
    /// may include values.
    func describe(_ tape: JSONTape, at token: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> String {
        let kind = tape.name(of: token)
        let token = tape.tokens[token]
        guard includesValuesInErrors, token.kind == .number || token.kind == .string else { return kind }
        let text = String(decoding: bytes[token.offset..<token.offset + min(Int(token.length), 100)], as: UTF8.self)
        return token.kind == .string ? "'\(text)'" : text
    }

    func name(of slot: Int, _ entity: CompiledEntity) -> String {
        model[entity.table].attributes[slot].name
    }

    /// Returns a description of the values that an attribute accepts: its type, the limit of the store, its format, and
    /// the Swift type that checks the values.
    func expected(_ slot: Int, _ entity: CompiledEntity, _ conversion: ValueConversion?) -> String {
        let attribute = model[entity.table].attributes[slot]
        return Self.article(attribute.type) + (conversion?.limitText ?? "")
            + (attribute.format.map { " written as \($0.text)" } ?? "")
            + (conversion?.typeName.map { " that is a \($0)" } ?? "")
    }

    static func article(_ type: AttributeType) -> String {
        "aeio".contains(type.rawValue.prefix(1)) ? "an \(type)" : "a \(type)"
    }
}

// MARK: - Paths

/// The path from the root of the payload to the value that is being mapped. The path is stored as numbers until its
/// text is needed.
package struct PayloadPath {
    package enum Step {
        case index(Int)
        /// A key: the byte range of its text in the payload, and the index of its object's key table. The index is -1
        /// if the path needs no table.
        case key(offset: Int, length: Int, table: Int = -1)
        /// The name of a member that is a record: the byte range of its text in the payload.
        case name(offset: Int, length: Int)
        /// The index of a record in a GraphQL connection. The record is in `nodes`, or in the `node` of one of the
        /// `edges`.
        case connected(Int, isEdge: Bool)
    }

    /// The location of a record in a list of a payload that is not plain (``PayloadLayout/isPlain``).
    package struct Root {
        /// The index of the record's list. The label of that list begins the path.
        var list: Int
        var index: Int
        /// The byte range of the object key, which the path has instead of the index. The length is -1 if there is
        /// none.
        var nameOffset = 0
        var nameLength = -1
    }

    private(set) var steps: [Step] = []
    /// The index of the root record in the payload, or in the chunk that is being mapped.
    private(set) var rootIndex = 0
    /// The first part of the paths of each list's records (`labels`), and the location of the root record (`root`). In
    /// a plain payload, `root` is nil.
    package var labels: [String] = []
    package var root: Root?
    /// The number of root records in the chunks before this one.
    var firstRecord = 0

    package init() {}

    package mutating func push(_ step: Step) { steps.append(step) }
    package mutating func pop() { steps.removeLast() }
    package mutating func reset(to record: Int) {
        steps.removeAll(keepingCapacity: true)
        rootIndex = record
    }

    /// The location of the record in the enclosing record: a key, and an index if the record is in a list.
    var location: PayloadGraph.RecordOccurrence.Location {
        switch (steps.last, steps.dropLast().last) {
        case (.index(let index), .key(let offset, let length, let table)):
            .init(offset: offset, length: Int32(length), table: Int32(table), index: Int32(index))
        case (.key(let offset, let length, let table), _):
            .init(offset: offset, length: Int32(length), table: Int32(table), index: -1)
        case (.connected(let index, _), .key(let offset, let length, let table)):
            .init(offset: offset, length: Int32(length), table: Int32(table), index: Int32(index))
        case (.name(let offset, let length), _):
            .init(
                offset: offset, length: Int32(length), table: PayloadGraph.RecordOccurrence.Location.nameTable,
                index: -1)
        default: rootLocation
        }
    }

    private var rootLocation: PayloadGraph.RecordOccurrence.Location {
        guard let root else {
            return .init(offset: 0, length: -1, table: -1, index: Int32(truncatingIfNeeded: rootIndex))
        }
        return .init(
            offset: root.nameOffset, length: -2 - Int32(root.nameLength), table: Int32(root.list),
            index: Int32(truncatingIfNeeded: root.index))
    }

    /// Returns the path as text, such as `[3].notes[0].created_at`.
    package func text(_ bytes: UnsafeBufferPointer<UInt8>, _ tables: [KeyTable], adding last: Step? = nil) -> String {
        var text = root.map { rootText($0, bytes) } ?? "[\(firstRecord + rootIndex)]"
        for step in steps + (last.map { [$0] } ?? []) {
            switch step {
            case .index(let index): text += "[\(index)]"
            case .name(let offset, let length): text += Self.nameText(offset, length, bytes)
            case .connected(let index, let isEdge): text += isEdge ? ".edges[\(index)].node" : ".nodes[\(index)]"
            case .key(let offset, let length, let table):
                let prefix = table < 0 ? [] : tables[table].path
                let key = String(decoding: bytes[offset..<offset + length], as: UTF8.self)
                text += "." + (prefix + [key]).joined(separator: ".")
            }
        }
        return text
    }

    private func rootText(_ root: Root, _ bytes: UnsafeBufferPointer<UInt8>) -> String {
        let label = labels.indices.contains(root.list) ? labels[root.list] : ""
        guard root.nameLength >= 0 else { return "\(label)[\(root.index)]" }
        return label + Self.nameText(root.nameOffset, root.nameLength, bytes)
    }

    /// Returns the text of a step to a member, such as `["AD"]`.
    private static func nameText(_ offset: Int, _ length: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> String {
        "[\"" + String(decoding: bytes[offset..<offset + length], as: UTF8.self) + "\"]"
    }

    /// Returns the path with the texts of its keys. An insert hook replaces the record at that path.
    func recordPath(_ bytes: UnsafeBufferPointer<UInt8>, _ tables: [KeyTable]) -> RecordPath {
        var path = RecordPath(root: rootIndex, steps: [])
        for step in steps {
            switch step {
            case .index(let index): path.steps.append(.index(index))
            case .name(let offset, let length): path.steps.append(.key(Self.key(offset, length, bytes)))
            case .connected(let index, let isEdge):
                path.steps += [.key(isEdge ? "edges" : "nodes"), .index(index)] + (isEdge ? [.key("node")] : [])
            case .key(let offset, let length, let table):
                if table >= 0 { path.steps += tables[table].path.map(RecordPath.Step.key) }
                path.steps.append(.key(Self.key(offset, length, bytes)))
            }
        }
        return path
    }

    private static func key(_ offset: Int, _ length: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> String {
        String(decoding: bytes[offset..<offset + length], as: UTF8.self)
    }
}

// MARK: - Places

extension PayloadPath.Step {
    /// Creates the step to an element of a list, or to a member by its name.
    package init(_ layout: ListLayout, _ tape: JSONTape, at place: Int, _ index: Int) {
        self =
            switch layout {
            case .array: .index(index)
            case .members: .name(offset: tape.tokens[place].offset, length: Int(tape.tokens[place].length))
            case .nodes: .connected(index, isEdge: false)
            case .edges: .connected(index, isEdge: true)
            }
    }
}

extension PayloadPath.Root {
    package init(_ place: PayloadMapper.TokenLocation, _ tape: JSONTape) {
        self.init(list: place.list, index: place.index)
        guard place.name >= 0 else { return }
        nameOffset = tape.tokens[place.name].offset
        nameLength = Int(tape.tokens[place.name].length)
    }
}
