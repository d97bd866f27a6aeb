import Testing

@testable import SyncCore

@Suite("Positions in ordered lists")
struct ListOrderingTests {
    // MARK: All rows of many lists

    /// The state of a row with respect to the one list of the payload.
    enum Row: Sendable {
        /// The list names the row. The row has the stored position if the stored list has it.
        case named(Int32, stored: Int64? = nil)
        /// The row is in the stored list, and the payload's list does not name it.
        case stays(Int64?)
        /// The row is stored in no list, or at this position of another list.
        case joins(stored: Int64? = nil)
        case new
        case leaves(Int64)
        case missing
        /// The row is in a list whose owner is not in the payload.
        case elsewhere(Int64?)
    }

    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var rows: [Row]
        /// The position that the list reserves for a row that is not stored.
        var reserved: Int64?
        var isReplaced = false
        /// The position after the stored list.
        var end: Int64 = 0
        var expected: [Int64?]

        init(
            _ testDescription: String, _ rows: [Row], reserved: Int64? = nil, isReplaced: Bool = false, end: Int64 = 0,
            places expected: [Int64?]
        ) {
            (self.testDescription, self.rows, self.expected) = (testDescription, rows, expected)
            (self.reserved, self.isReplaced, self.end) = (reserved, isReplaced, end)
        }

        /// Returns the positions of the rows in the list of node 0.
        func places() -> [Int64?] {
            let list = LinkTarget(NodeID(0))
            let none = rows.map { _ in LinkTarget.nowhere }
            var columns = ListOrdering.Rows(
                lists: rows.map { _ in list }, positions: rows.map { _ in -1 }, states: rows.map { _ in .stored },
                storedLists: none, storedPositions: rows.map { _ in nil })
            for (index, row) in rows.enumerated() {
                switch row {
                case .named(let position, let place):
                    columns.positions[index] = position
                    columns.storedPositions[index] = place
                    if place != nil { columns.storedLists[index] = list }
                case .stays(let place):
                    columns.storedPositions[index] = place
                    columns.storedLists[index] = list
                case .joins(let place): columns.storedPositions[index] = place
                case .new: columns.states[index] = .new
                case .leaves(let place):
                    columns.lists[index] = .nowhere
                    columns.storedPositions[index] = place
                    columns.storedLists[index] = list
                case .missing: columns.states[index] = .missing
                case .elsewhere(let place):
                    columns.lists[index] = .unmatched
                    columns.storedPositions[index] = place
                    columns.storedLists[index] = .unmatched
                }
            }
            var ends = ListEnds(count: 1)
            if let reserved { ends.reserve(reserved, in: NodeID(0)) }
            var replaced = ReplacedEnd(count: 1)
            if isReplaced { replaced.record(NodeID(0), 1, deletes: false) }
            return ListOrdering.positions(of: columns, reserved: ends, replaced: replaced) { $0.map { _ in end } }
        }
    }

    static let cases: [Case] = [
        .init("Named rows are where the list names them", [.named(2), .named(0), .named(1)], places: [2, 0, 1]),
        .init(
            "A stored row moves to where the list names it", [.named(1, stored: 0), .named(0)], places: [1, 0]),
        .init(
            "Rows that stay come after named ones in their stored order, and new ones after them",
            [.new, .stays(2), .named(0, stored: 1), .stays(0), .joins(stored: 0), .named(1)],
            places: [4, 3, 0, 2, 5, 1]),
        .init(
            "A row that stays behind the named ones keeps its place", [.named(0), .stays(7), .stays(0), .new],
            places: [0, 7, 1, 8]),
        .init(
            "Rows without a place come last of those that stay", [.named(0), .stays(nil), .stays(0)], places: [0, 2, 1]),
        .init(
            "Reserved places are taken", [.named(0), .new, .stays(1), .stays(3)], reserved: 2, places: [0, 5, 3, 4]),
        .init(
            "Where no list names rows they keep their places, and new ones come after the stored list",
            [.stays(4), .stays(nil), .new, .joins(stored: 0)], end: 9, places: [4, nil, 9, 10]),
        .init("Other rows follow a reserved place", [.new, .joins()], reserved: 0, end: 9, places: [1, 2]),
        .init(
            "Rows in no list or in a list outside of the payload stay as they are",
            [.leaves(3), .missing, .elsewhere(5), .elsewhere(nil), .named(0)], places: [nil, nil, 5, nil, 0]),
        .init(
            "The stored order keeps the stored places",
            [.named(0, stored: 3), .named(2, stored: 12), .named(1, stored: 7)], isReplaced: true, places: [3, 12, 7]),
        .init(
            "So it does with rows that stay", [.named(0, stored: 3), .stays(8)], isReplaced: true, places: [3, 8]),
        .init(
            "So it does whatever leaves", [.named(0, stored: 3), .leaves(5), .missing], isReplaced: true,
            places: [3, nil, nil]),
        .init(
            "Another order gets its own places", [.named(1, stored: 3), .named(0, stored: 7)], isReplaced: true,
            places: [1, 0]),
        .init(
            "A list with a new row gets its own places", [.named(0, stored: 3), .new], isReplaced: true,
            places: [0, 1]),
        .init(
            "A list with a row without a stored place gets its own places", [.named(0, stored: 3), .stays(nil)],
            isReplaced: true, places: [0, 1]),
        .init(
            "A list with equal stored places gets its own places", [.named(0, stored: 3), .named(1, stored: 3)],
            isReplaced: true, places: [0, 1]),
        .init(
            "A list with a reserved place gets its own places", [.named(0, stored: 3), .named(1, stored: 7)],
            reserved: 2, isReplaced: true, places: [0, 1]),
        .init("A list that is not replaced gets its own places", [.named(0, stored: 3)], places: [0]),
        .init(
            "The last possible place is no end", [.named(0), .stays(.max), .new, .new], places: [0, .max, .max, .max]),
    ]

    @Test("The ordering rules give the expected positions", arguments: cases)
    func rulesGiveExpectedPositions(_ list: Case) { #expect(list.places() == list.expected) }

    @Test("Stored ends are requested once, and only for lists that new rows join")
    func storedEndsAreRequestedOnce() {
        let lists: [Int] = [0, 1, 2, 0, 2]
        let targets = lists.map { LinkTarget(NodeID($0)) }
        let rows = ListOrdering.Rows(
            lists: targets, positions: [0, -1, -1, -1, -1], states: [.stored, .stored, .new, .new, .new],
            storedLists: [.nowhere, targets[1], .nowhere, .nowhere, .nowhere], storedPositions: [nil, 5, nil, nil, nil])
        var asked: [[NodeID]] = []
        let places = ListOrdering.positions(of: rows, reserved: ListEnds(count: 3), replaced: ReplacedEnd()) { lists in
            asked.append(lists)
            return [7]
        }
        #expect(asked == [[NodeID(2)]])
        #expect(places == [0, 5, 7, 1, 8])
    }

    @Test("Stored positions are kept or replaced for each list separately")
    func storedPositionsAreKeptPerList() {
        var replaced = ReplacedEnd(count: 3)
        for list in 0..<3 { replaced.record(NodeID(list), 1, deletes: false) }
        var places: [Int64?] = [0, 1, 0, 1, 0, nil]
        ListOrdering.preserveStoredOrder(
            &places, in: [0, 0, 1, 1, 2, 2].map { LinkTarget(NodeID($0)) }, stored: [4, 9, 9, 4, 6, nil],
            replaced: replaced, reserved: ListEnds(count: 3))
        #expect(places == [4, 9, 0, 1, 0, nil])
    }

    // MARK: New rows

    @Test("Rows without a position follow the named, reserved and stored positions")
    func newRowsComeLast() {
        var reserved = ListEnds(count: 4)
        reserved.reserve(5, in: NodeID(1))
        var places: [Int64?] = [nil, 2, nil, nil, nil, nil, 3]
        var asked: [[NodeID]] = []
        ListOrdering.append(&places, in: [0, 0, 1, 0, 2, 2, 3].map { NodeID($0) }, reserved: reserved) { lists in
            asked.append(lists)
            return [1, 4, 8]
        }
        #expect(asked == [[NodeID(0), NodeID(1), NodeID(2)]])
        #expect(places == [3, 2, 6, 4, 8, 9, 3])
    }

    @Test("No stored end is requested if the payload names all new rows")
    func namedRowsNeedNoStoredEnd() {
        var places: [Int64?] = [1, 0]
        ListOrdering.append(&places, in: [NodeID(0), NodeID(0)], reserved: ListEnds(count: 1)) { _ in
            Issue.record("asked")
            return [0]
        }
        #expect(places == [1, 0])
    }

    @Test("Rows that are not stored reserve positions at the end whose list names them")
    func missingRowsReservePositions() {
        let said: [(Int32, CompiledAssociation.End)] = [
            (1, .second), (4, .second), (2, .first), (-1, .second), (0, .second),
        ]
        let assertions = said.map { position, end in
            LinkBatch.Assertion(
                first: NodeID(0), second: NodeID(1), sequence: 1, position: position, occurrence: -1, assertedBy: end,
                isListed: true, isByID: true)
        }
        let first = ListEnds(reserving: assertions, at: .first, count: 2)
        let second = ListEnds(reserving: assertions, at: .second, count: 2)
        #expect(first[NodeID(0)] == 3 && first[NodeID(1)] == nil)
        #expect(second[NodeID(0)] == nil && second[NodeID(1)] == 5)
    }

    // MARK: One stored list

    @Test("A list ends after its stored and reserved positions")
    func listEndsAfterStoredAndReserved() {
        #expect(ListOrdering.end(of: [], reserved: []) == 0)
        #expect(ListOrdering.end(of: [3, nil, 1], reserved: []) == 4)
        #expect(ListOrdering.end(of: [3, nil, 1], reserved: [-1, 6]) == 7)
        #expect(ListOrdering.end(of: [-3, nil], reserved: [-1]) == 0)
        #expect(ListOrdering.end(of: [.max], reserved: []) == .max)
    }

    @Test("Rows that no list names move behind named ones, unless they are already there")
    func unnamedRowsMoveBehindNamedOnes() {
        func moved(_ places: [Int64?], named: Set<Int>) -> [Int64?] {
            ListOrdering.movingOthers(behind: places.indices.map(named.contains), in: places)
        }
        #expect(moved([0, 1, 2], named: [1]) == [2, 1, 3])
        #expect(moved([0, 1, 5], named: [0, 1]) == [0, 1, 5])
        #expect(moved([0, 4, nil], named: [0]) == [0, 1, 2])
        #expect(moved([0, 4], named: []) == [0, 4])
        #expect(moved([-2, nil], named: [0]) == [-2, 0])
        #expect(moved([0, .max], named: [1]) == [.max, .max])
    }

    @Test("A row inserted at a used position shifts the row there and all behind it")
    func insertedRowShiftsOthers() {
        func moved(_ row: Int, at place: Int64, _ places: [Int64?]) -> [Int64?] {
            ListOrdering.inserting(row, at: place, in: places)
        }
        #expect(moved(3, at: 1, [0, 1, 2, 3]) == [0, 2, 3, 1])
        #expect(moved(0, at: 4, [0, 1, 9, nil]) == [4, 1, 9, nil])
        #expect(moved(0, at: 0, [0, 0]) == [0, 0])
        #expect(moved(1, at: 0, [0, nil]) == [1, 0])
        #expect(moved(0, at: 1, [0, 1, .max]) == [1, 2, .max])
    }
}
