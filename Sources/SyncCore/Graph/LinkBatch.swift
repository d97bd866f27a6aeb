/// The statements of a payload about one association: link assertions and replaced lists.
///
/// Every statement has a sequence number in document order. An asserted link holds unless a later statement replaces
/// all links of the row at one of its ends (``LinkRule``). This rule covers every type of relationship, and both ends.
package struct LinkBatch: Sendable {
    /// A statement in the payload that two nodes are linked.
    package struct Assertion: Sendable {
        package var first: NodeID
        package var second: NodeID
        package let sequence: UInt32
        /// The occurrence of the record that asserts the link, or of the listed record; -1 if occurrences are not
        /// tracked.
        package let occurrence: Int32
        /// The index in the list that asserts the link; -1 outside of lists. The index does not count nulls and skipped
        /// nested records.
        package var position: Int32
        /// The end whose record or list makes the statement.
        package let assertedBy: CompiledAssociation.End
        /// Whether `occurrence` is that of a listed record. If that record is not effective, the assertion can only
        /// preserve a stored link.
        package let isListed: Bool
        /// Whether the assertion references a row by ID. The row may arrive in a later sync.
        package let isByID: Bool
        let kind: Kind

        /// Returns the entity that the payload states for the row at an end; nil if it states none, or the entity of
        /// the association.
        @inline(__always)
        package func kind(at end: CompiledAssociation.End) -> Int? {
            kind.entity >= 0 && kind.end == end ? Int(kind.entity) : nil
        }

        package init(
            first: NodeID, second: NodeID, sequence: UInt32, position: Int32, occurrence: Int32,
            assertedBy: CompiledAssociation.End, isListed: Bool, isByID: Bool, kind: Kind = .none
        ) {
            self.first = first
            self.second = second
            self.sequence = sequence
            self.occurrence = occurrence
            self.position = position
            self.assertedBy = assertedBy
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

    /// A replaced list: the payload gives all links of a row at one end, so its other links are removed.
    package struct Replacement: Sendable {
        package enum Kind: UInt8, Sendable {
            /// Omitted rows with a key are unlinked, unless the link is part of that key.
            case unlink
            /// Omitted rows without a node become deletion candidates.
            case delete
        }
        package var node: NodeID
        package let sequence: UInt32
        /// The occurrence, below 2^29, in the upper bits. The lowest two bits are the kind and the end. This saves
        /// memory, because there may be millions of replacements.
        private var occurrenceAndFlags: Int32

        package init(node: NodeID, end: CompiledAssociation.End, kind: Kind, sequence: UInt32, occurrence: Int32) {
            self.node = node
            self.sequence = sequence
            occurrenceAndFlags = occurrence << 2 | (kind == .unlink ? 0 : 2) | (end == .first ? 0 : 1)
        }

        package var end: CompiledAssociation.End { occurrenceAndFlags & 1 == 0 ? .first : .second }
        package var kind: Kind { occurrenceAndFlags & 2 == 0 ? .unlink : .delete }
        /// The occurrence of the record that has the list; -1 if occurrences are not tracked.
        package var occurrence: Int32 { occurrenceAndFlags >> 2 }

        func with(end: CompiledAssociation.End? = nil, kind: Kind? = nil) -> Replacement {
            Replacement(
                node: node, end: end ?? self.end, kind: kind ?? self.kind, sequence: sequence, occurrence: occurrence)
        }
    }

    package internal(set) var assertions = Assertions()
    package internal(set) var replacements: [Replacement] = []

    /// Reserves capacity for `factor` times the current number of statements.
    mutating func reserve(_ factor: Double) {
        assertions.reserve(factor)
        replacements.reserve(Int(Double(replacements.count) * factor))
    }

    package var isEmpty: Bool { assertions.isEmpty && replacements.isEmpty }
}

extension LinkBatch {
    /// The assertions of an association, in the order of mapping: those of a nested record precede the link to it. To
    /// save memory, each takes 16 bytes, without its details.
    package struct Assertions: RandomAccessCollection, Sendable {
        /// The members that every assertion needs.
        private struct Core: Sendable {
            let first: NodeID
            let second: NodeID
            let sequence: UInt32
            /// The index in the list, below 2^28, in the upper bits. The lowest three bits are flags.
            let positionAndFlags: Int32
        }

        /// The members that most payloads do not need. They are stored if any assertion of the association needs them.
        private struct Details: Sendable {
            let occurrence: Int32
            let kind: Assertion.Kind

            static let none = Details(occurrence: -1, kind: .none)
        }

        private var cores: [Core] = []
        /// The details of all assertions; empty if no assertion has details.
        private var details: [Details] = []

        package var startIndex: Int { 0 }
        package var endIndex: Int { cores.count }

        package internal(set) subscript(index: Int) -> Assertion {
            @inline(__always) get {
                let core = cores[index]
                let details = details.isEmpty ? Details.none : details[index]
                return Assertion(
                    first: core.first, second: core.second, sequence: core.sequence,
                    position: core.positionAndFlags >> 3, occurrence: details.occurrence,
                    assertedBy: core.positionAndFlags & 1 == 0 ? .first : .second,
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

        /// Returns, for each node at the first end, the number of the node that was last asserted at the second end; -1
        /// for none.
        ///
        /// - Parameter count: The number of nodes at the first end.
        package func lastTargets(count: Int) -> [Int32] {
            var targets: [Int32] = Array(repeating: -1, count: count)
            for core in cores { targets[core.first.index] = core.second.number }
            return targets
        }

        @inline(__always)
        mutating func append(_ assertion: Assertion) {
            if assertion.occurrence >= 0 || assertion.kind.entity >= 0 || !details.isEmpty {
                details.append(contentsOf: repeatElement(.none, count: cores.count - details.count))
                details.append(Details(occurrence: assertion.occurrence, kind: assertion.kind))
            }
            cores.append(Self.core(assertion))
        }

        @inline(__always)
        private static func core(_ assertion: Assertion) -> Core {
            Core(
                first: assertion.first, second: assertion.second, sequence: assertion.sequence,
                positionAndFlags: assertion.position << 3 | (assertion.assertedBy == .first ? 0 : 1)
                    | (assertion.isListed ? 2 : 0) | (assertion.isByID ? 4 : 0))
        }

        /// Reserves capacity for `factor` times the current number of assertions.
        mutating func reserve(_ factor: Double) {
            cores.reserve(Int(Double(cores.count) * factor))
            if !details.isEmpty { details.reserve(Int(Double(details.count) * factor)) }
        }
    }
}
