/// The way from the root of the payload to the value being mapped, kept as numbers until somebody asks for text.
package struct PayloadPath {
    package enum Step {
        case index(Int)
        /// A key, by the place of its text in the payload, and the table of the object that has it: dotted remote keys
        /// lead there.
        case key(offset: Int, length: Int, table: Int = -1)
        /// The name of a member that is a record, by the place of its text.
        case name(offset: Int, length: Int)
        /// A record of a connection: in `nodes`, or the `node` of one of its `edges`.
        case connected(Int, isEdge: Bool)
    }

    /// Where a root record stands that is not simply an element of the payload.
    package struct Root {
        /// How its path begins, by the number of its list.
        var list: Int
        var index: Int
        /// The place of its name, where it has one instead of the index.
        var nameOffset = 0
        var nameLength = -1
    }

    private(set) var steps: [Step] = []
    /// The root record, among those of the payload, or of the piece of it that is mapped.
    private(set) var rootIndex = 0
    /// How the paths of the records of each list begin, and where the root record stands; nil if it is an element.
    package var labels: [String] = []
    package var root: Root?
    /// How many root records are in the pieces before.
    var firstRecord = 0

    package init() {}

    package mutating func push(_ step: Step) { steps.append(step) }
    package mutating func pop() { steps.removeLast() }
    package mutating func reset(to record: Int) {
        steps.removeAll(keepingCapacity: true)
        rootIndex = record
    }

    /// How the record being mapped is reached from the one around it: under a key, perhaps in a list.
    var mark: PayloadGraph.RecordOccurrence.Mark {
        switch (steps.last, steps.dropLast().last) {
        case (.index(let index), .key(let offset, let length, let table)):
            .init(offset: offset, length: Int32(length), table: Int32(table), index: Int32(index))
        case (.key(let offset, let length, let table), _):
            .init(offset: offset, length: Int32(length), table: Int32(table), index: -1)
        case (.connected(let index, _), .key(let offset, let length, let table)):
            .init(offset: offset, length: Int32(length), table: Int32(table), index: Int32(index))
        case (.name(let offset, let length), _):
            .init(offset: offset, length: Int32(length), table: PayloadGraph.RecordOccurrence.Mark.nameTable, index: -1)
        default: rootMark
        }
    }

    private var rootMark: PayloadGraph.RecordOccurrence.Mark {
        guard let root else {
            return .init(offset: 0, length: -1, table: -1, index: Int32(truncatingIfNeeded: rootIndex))
        }
        return .init(
            offset: root.nameOffset, length: -2 - Int32(root.nameLength), table: Int32(root.list),
            index: Int32(truncatingIfNeeded: root.index))
    }

    /// `[3].notes[0].created_at`
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

    /// `["AD"]`
    private static func nameText(_ offset: Int, _ length: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> String {
        "[\"" + String(decoding: bytes[offset..<offset + length], as: UTF8.self) + "\"]"
    }

    /// The same way for a hook that rewrites the record there.
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
    /// The step to an element of a list, or to a member by its name.
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
    package init(_ place: PayloadMapper.Place, _ tape: JSONTape) {
        self.init(list: place.list, index: place.index)
        guard place.name >= 0 else { return }
        nameOffset = tape.tokens[place.name].offset
        nameLength = Int(tape.tokens[place.name].length)
    }
}
