/// What a payload says about one link: which pairs there are, and which ends were spoken for as a whole.
///
/// Every statement has its place in document order. A pair holds if neither of its ends was spoken for later:
/// that one rule covers every kind of relationship and both of its sides.
package struct LinkBatch: Sendable {
    /// A pair that the payload says is linked.
    package struct Assertion: Sendable {
        package var first: NodeID
        package var second: NodeID
        package let sequence: UInt32
        /// The record that says it, or of a child listed as an object the child's own, where mentions are tracked;
        /// else -1.
        package let mention: Int32
        /// Its position in the list that gave it; -1 if no list did.
        package var position: Int32
        /// The end whose record or list says it.
        package let saidBy: CompiledAssociation.End
        /// Whether `mention` is a listed child's: one that may be neither inserted nor updated only keeps a stored link.
        package let isListed: Bool
        /// Whether it refers by id to a row that may arrive later.
        package let isByID: Bool
        let kind: Kind

        /// The entity that the payload states for the row at an end; nil if it states none, or that of the association.
        @inline(__always)
        package func kind(at end: CompiledAssociation.End) -> Int? {
            kind.entity >= 0 && kind.end == end ? Int(kind.entity) : nil
        }

        package init(
            first: NodeID, second: NodeID, sequence: UInt32, position: Int32, mention: Int32,
            saidBy: CompiledAssociation.End, isListed: Bool, isByID: Bool, kind: Kind = .none
        ) {
            self.first = first
            self.second = second
            self.sequence = sequence
            self.mention = mention
            self.position = position
            self.saidBy = saidBy
            self.isListed = isListed
            self.isByID = isByID
            self.kind = kind
        }

        /// The entity that the payload states for a row, and the end of that row.
        package struct Kind: Sendable {
            let entity: Int16
            let end: CompiledAssociation.End

            package static let none = Kind(entity: -1, end: .first)
        }
    }

    /// The links of a row at one end are what the payload says here, and no others.
    package struct Replacement: Sendable {
        package enum Kind: UInt8, Sendable {
            /// Unlisted rows stay.
            case unlink
            /// Unlisted rows that nothing else mentions are deleted.
            case delete
        }
        package var node: NodeID
        package let sequence: UInt32
        /// The mention, below 2^29, and in its lowest bits the kind and the end: there may be millions of these.
        private var mentionAndFlags: Int32

        package init(node: NodeID, end: CompiledAssociation.End, kind: Kind, sequence: UInt32, mention: Int32) {
            self.node = node
            self.sequence = sequence
            mentionAndFlags = mention << 2 | (kind == .unlink ? 0 : 2) | (end == .first ? 0 : 1)
        }

        package var end: CompiledAssociation.End { mentionAndFlags & 1 == 0 ? .first : .second }
        package var kind: Kind { mentionAndFlags & 2 == 0 ? .unlink : .delete }
        /// The record that says it, where mentions are tracked; else -1.
        package var mention: Int32 { mentionAndFlags >> 2 }

        func with(end: CompiledAssociation.End? = nil, kind: Kind? = nil) -> Replacement {
            Replacement(
                node: node, end: end ?? self.end, kind: kind ?? self.kind, sequence: sequence, mention: mention)
        }
    }

    package internal(set) var assertions = Assertions()
    package internal(set) var replacements: [Replacement] = []

    /// Makes room for `factor` times what is here.
    mutating func reserve(_ factor: Double) {
        assertions.reserve(factor)
        replacements.reserve(Int(Double(replacements.count) * factor))
    }

    package var isEmpty: Bool { assertions.isEmpty && replacements.isEmpty }
}

extension LinkBatch {
    /// The assertions of an association, in document order. Each takes 16 bytes, since there may be millions.
    package struct Assertions: RandomAccessCollection, Sendable {
        /// The part that each assertion has.
        private struct Core: Sendable {
            let first: NodeID
            let second: NodeID
            let sequence: UInt32
            /// The position, below 2^28, and in the lowest three bits the flags.
            let positionAndFlags: Int32
        }

        /// The part that few assertions have.
        private struct Details: Sendable {
            let mention: Int32
            let kind: Assertion.Kind

            static let none = Details(mention: -1, kind: .none)
        }

        private var cores: [Core] = []
        /// Empty as long as no assertion has any.
        private var details: [Details] = []

        package var startIndex: Int { 0 }
        package var endIndex: Int { cores.count }

        package internal(set) subscript(index: Int) -> Assertion {
            @inline(__always) get {
                let core = cores[index]
                let details = details.isEmpty ? Details.none : details[index]
                return Assertion(
                    first: core.first, second: core.second, sequence: core.sequence,
                    position: core.positionAndFlags >> 3, mention: details.mention,
                    saidBy: core.positionAndFlags & 1 == 0 ? .first : .second,
                    isListed: core.positionAndFlags & 2 != 0, isByID: core.positionAndFlags & 4 != 0,
                    kind: details.kind)
            }
            set { cores[index] = Self.core(newValue) }
        }

        package struct Iterator: IteratorProtocol {
            fileprivate let assertions: Assertions
            private var index = 0

            fileprivate init(_ assertions: Assertions) { self.assertions = assertions }

            @inline(__always)
            package mutating func next() -> Assertion? {
                guard index < assertions.cores.count else { return nil }
                defer { index += 1 }
                return assertions[index]
            }
        }

        package func makeIterator() -> Iterator { Iterator(self) }

        /// The last asserted target of each node at the first end; -1 for none.
        ///
        /// - Parameter count: The number of nodes at the first end.
        package func lastTargets(count: Int) -> [Int32] {
            var targets: [Int32] = Array(repeating: -1, count: count)
            for core in cores { targets[core.first.index] = core.second.number }
            return targets
        }

        @inline(__always)
        mutating func append(_ assertion: Assertion) {
            if assertion.mention >= 0 || assertion.kind.entity >= 0 || !details.isEmpty {
                details.append(contentsOf: repeatElement(.none, count: cores.count - details.count))
                details.append(Details(mention: assertion.mention, kind: assertion.kind))
            }
            cores.append(Self.core(assertion))
        }

        @inline(__always)
        private static func core(_ assertion: Assertion) -> Core {
            Core(
                first: assertion.first, second: assertion.second, sequence: assertion.sequence,
                positionAndFlags: assertion.position << 3 | (assertion.saidBy == .first ? 0 : 1)
                    | (assertion.isListed ? 2 : 0) | (assertion.isByID ? 4 : 0))
        }

        /// Reserves capacity for `factor` times the assertions.
        mutating func reserve(_ factor: Double) {
            cores.reserve(Int(Double(cores.count) * factor))
            if !details.isEmpty { details.reserve(Int(Double(details.count) * factor)) }
        }
    }
}
