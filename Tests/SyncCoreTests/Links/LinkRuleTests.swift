import Testing

@testable import SyncCore

@Suite("Link rule")
struct LinkRuleTests {
    @Test("A link holds unless one of its ends is replaced later", arguments: [-1, 0, 1, 2, 3], [-1, 0, 1, 2, 3])
    func linkHoldsUntilAnEndIsReplaced(first: Int64, second: Int64) {
        #expect(
            LinkRule.holds(asserted: 2, preserved: LinkRule.never, firstReplaced: first, secondReplaced: second)
                == (max(first, second) <= 2))
        let isUntouched = first < 0 && second < 0
        #expect(
            LinkRule.holds(
                asserted: LinkRule.never, preserved: LinkRule.never, firstReplaced: first, secondReplaced: second)
                == isUntouched)
        let isKept = [first, second].allSatisfy { $0 < 0 || $0 == 3 }
        #expect(
            LinkRule.holds(asserted: LinkRule.never, preserved: 3, firstReplaced: first, secondReplaced: second)
                == isKept)
    }

    @Test("A link stays if the last list at each end keeps it", arguments: [-1, 0, 1, 2, 3], [-1, 0, 1, 2, 3])
    func linkStaysIfBothLastListsKeepIt(first: Int64, second: Int64) {
        let isKept = (first < 0 || first == 1) && (second < 0 || second == 3)
        #expect(
            LinkRule.holds(
                asserted: LinkRule.never, preservedByFirst: 1, preservedBySecond: 3, firstReplaced: first,
                secondReplaced: second)
                == isKept)
    }

    static let cases: [LinkCase] = [
        .init("What nobody speaks of stays", of: [.toOne, .oneToOne, .toMany], stored: [(0, 2)], [], is: [(0, 2)]),
        .init(
            "An id links", of: [.toOne, .oneToOne, .toMany], [.to(.first, 0, 2)], is: [(0, 2)]),
        .init("An id from the other side links", of: [.toOne, .oneToOne, .toMany], [.to(.second, 2, 0)], is: [(0, 2)]),
        .init(
            "A new row is linked as a stored one is", of: [.toOne, .oneToOne, .toMany], [.to(.first, 1, 1)],
            is: [(1, 1)]),
        .init(
            "An id moves a to-one link", of: [.toOne, .oneToOne], stored: [(0, 2)], [.to(.first, 0, 1)], is: [(0, 1)]),
        .init("An id adds to many", of: [.toMany], stored: [(0, 2)], [.to(.first, 0, 1)], is: [(0, 2), (0, 1)]),
        .init(
            "Of two ids of a to-one link the last counts", of: [.toOne], [.to(.first, 0, 1), .to(.first, 0, 2)],
            is: [(0, 2)]),
        .init(
            "The other side may have the last word", of: [.toOne], [.to(.first, 0, 1), .to(.second, 2, 0)], is: [(0, 2)]
        ),
        .init("Null unlinks", of: [.toOne, .oneToOne, .toMany], stored: [(0, 2)], [.nowhere(.first, 0)], is: []),
        .init(
            "Null from the other side unlinks", of: [.toOne, .oneToOne, .toMany], stored: [(0, 2)],
            [.nowhere(.second, 2)],
            is: []),
        .init(
            "Null unlinks no others", of: [.toOne, .toMany], stored: [(0, 2), (2, 2)], [.nowhere(.first, 0)],
            is: [(2, 2)]),
        .init("What is said after null holds", [.nowhere(.first, 0), .to(.first, 0, 2)], is: [(0, 2)]),
        .init("What was said before null does not", [.to(.first, 0, 2), .nowhere(.first, 0)], is: []),
        .init("nor what was said before null on the other side", [.to(.first, 0, 2), .nowhere(.second, 2)], is: []),
        .init(
            "A list has its rows and no others", stored: [(0, 2), (2, 2)], [.list(2, [0, 1])], is: [(0, 2), (1, 2)]),
        .init("A list leaves other owners' rows alone", stored: [(0, 0)], [.list(2, [1])], is: [(0, 0), (1, 2)]),
        .init("A list takes over a to-one row", of: [.toOne], stored: [(0, 0)], [.list(2, [0])], is: [(0, 2)]),
        .init(
            "A list shares what many may have", of: [.toMany], stored: [(0, 0)], [.list(2, [0])], is: [(0, 0), (0, 2)]),
        .init("Of two lists of a row the last counts", [.list(2, [0, 1]), .list(2, [1])], is: [(1, 2)]),
        .init(
            "A row in the lists of two owners is the last one's", of: [.toOne], [.list(0, [2]), .list(1, [2])],
            is: [(2, 1)]
        ),
        .init("or both's", of: [.toMany], [.list(0, [2]), .list(1, [2])], is: [(2, 0), (2, 1)]),
        .init(
            "A row says after the list that it is in it too", [.list(2, [0]), .to(.first, 1, 2)], is: [(0, 2), (1, 2)]),
        .init("A row that said so before the list is not", [.to(.first, 1, 2), .list(2, [0])], is: [(0, 2)]),
        .init("An empty list unlinks all", stored: [(0, 2), (2, 2)], [.list(2, [])], is: []),
        .init(
            "Lists of both sides: the later one decides", of: [.toMany], stored: [(0, 2)],
            [.listAtFirst(0, [1]), .list(1, [])], is: []),
        .init(
            "and not about what it does not speak of", of: [.toMany], [.listAtFirst(0, [1, 2]), .list(1, [])],
            is: [(0, 2)]),
        .init(
            "One to one: the one who is linked is taken from the other", of: [.oneToOne], stored: [(0, 2)],
            [.to(.first, 2, 2)], is: [(2, 2)]),
        .init(
            "One to one: who was linked and moved on has still taken it", of: [.oneToOne], stored: [(0, 2)],
            [.to(.first, 2, 2), .to(.first, 2, 1)], is: [(2, 1)]),
        .init(
            "Nobody is linked to a row that is not there", of: [.toOne, .oneToOne, .toMany], [.to(.first, 0, 3)], is: []
        ),
        .init(
            "Nor loses the link there is while it waits", of: [.toOne, .oneToOne, .toMany], stored: [(0, 2)],
            [.to(.first, 0, 3)], is: [(0, 2)]),
        .init("A list keeps what it may not link", stored: [(0, 2)], [.keeping(2, [0])], is: [(0, 2)]),
        .init("and links nothing new", stored: [(2, 2)], [.keeping(2, [0, 1])], is: []),
        .init(
            "It does not bring back what was unlinked before it", stored: [(0, 2)],
            [.nowhere(.first, 0), .keeping(2, [0])], is: []),
        .init(
            "What a row says itself holds beside such a list", stored: [(2, 2)],
            [.to(.first, 0, 2), .keeping(2, [0, 2])],
            is: [(0, 2), (2, 2)]),
        .init("and does not if the list has it not", [.to(.first, 0, 2), .keeping(2, [2])], is: []),
    ]

    @Test("The link rule gives the expected links", arguments: cases)
    func linkRuleGivesExpectedLinks(_ linkCase: LinkCase) throws {
        for kind in linkCase.kinds { #expect(try linkCase.found(kind) == linkCase.expected, "\(kind)") }
    }

    /// The stored targets of rows without links.
    private static let nothing = Array(repeating: LinkTarget.nowhere, count: LinkCase.count)

    // MARK: Pending references

    @Test("Only references by ID become pending if the row is missing", arguments: [LinkCase.Kind.toOne, .toMany])
    func onlyReferencesByIDBecomePending(_ kind: LinkCase.Kind) throws {
        let statements = try LinkCase(
            "", [.to(.first, 0, 3), .to(.first, 1, 3, byID: false), .list(2, [0, 3], deletes: false)], is: []
        ).statements(kind)
        let awaited =
            kind == .toOne
            ? ResolvedForeignKeyTargets(statements, stored: Self.nothing).pending : ResolvedJoinRows(statements).pending
        #expect(awaited.map { [$0.first, $0.second] } == [[0, 3], [3, 2]])
        #expect(awaited.map(\.position) == [-1, 1] && awaited.map(\.assertedBy) == [.first, .second])
    }

    @Test("A pending reference replaces each end that has at most one link")
    func pendingReferenceReplacesToOneEnds() throws {
        let said: [LinkCase.Statement] = [.to(.first, 0, 3), .to(.first, 1, 3, byID: false), .list(2, [0])]
        func claimed(_ kind: LinkCase.Kind, countsPending: Bool = true) throws -> [[Bool]] {
            let ends = try LinkCase("", said, is: []).statements(kind).replacedEnds(countsPending: countsPending)
            return [ends.first, ends.second].map { end in (0..<4).map { end.isReplaced(NodeID($0)) } }
        }
        #expect(try claimed(.toOne) == [[true, true, false, false], [false, false, true, false]])
        #expect(try claimed(.oneToOne) == [[true, true, false, false], [false, false, true, true]])
        #expect(try claimed(.toMany) == [[false, false, false, false], [false, false, true, false]])
        for kind in [LinkCase.Kind.toOne, .oneToOne] {
            #expect(
                try claimed(kind, countsPending: false) == [[true, false, false, false], [false, false, true, false]])
        }
    }

    // MARK: Order

    @Test("A row takes its position from the last list of the row that it references")
    func rowTakesPositionFromLastList() throws {
        func positions(_ said: [LinkCase.Statement]) throws -> [Int32] {
            try ResolvedForeignKeyTargets(LinkCase("", said, is: []).statements(.toOne), stored: Self.nothing).positions
        }
        #expect(try positions([.list(2, [1, 0])]) == [1, 0, -1, -1])
        #expect(try positions([.list(2, [1, 0]), .list(2, [0, 2])]) == [0, -1, 1, -1])
        #expect(try positions([.list(2, [1, 0]), .to(.first, 0, 1)]) == [-1, 0, -1, -1])
        #expect(try positions([.list(2, [1, 0]), .to(.first, 0, 2)]) == [1, 0, -1, -1])
        #expect(try positions([.list(2, [0, 1, 0])]) == [0, 1, -1, -1])
    }

    @Test("A join row takes its positions from the last list at each end")
    func joinRowTakesPositionsFromLastLists() throws {
        let pairs = try ResolvedJoinRows(
            LinkCase("", [.list(2, [1, 0]), .listAtFirst(0, [1, 2]), .list(2, [0, 1])], is: []).statements(.toMany)
        ).rows
        let places = Set(pairs.map { [$0.first.number, $0.second.number, $0.firstPosition, $0.secondPosition] })
        #expect(places == [[0, 1, 0, -1], [0, 2, 1, 0], [1, 2, -1, 1]])
    }

    @Test("Repeated assertions of one link give one join row")
    func repeatedAssertionsGiveOneJoinRow() throws {
        for count in [3, 40] {
            let said = (0..<count).map { LinkCase.Statement.to(.first, $0 % 3, ($0 + 1) % 3) }
            let pairs = try ResolvedJoinRows(LinkCase("", said, is: []).statements(.toMany))
            #expect(pairs.rows.count == 3)
            #expect(pairs.holds(0, 1) && pairs.holds(2, 0) && !pairs.holds(1, 0) && pairs.index(of: nil, 0) == nil)
        }
    }

    // MARK: Replaced ends

    @Test("The latest replacement of an end decides whether omitted rows are deleted")
    func latestReplacementDecidesDeletion() {
        var end = ReplacedEnd(count: 3)
        end.record(1, 4, deletes: true)
        end.record(1, 2, deletes: false)
        #expect(end.sequence(of: 1) == 4 && end.deletes(at: 1) && end.nodes == [1])
        end.record(1, 4, deletes: false)
        #expect(!end.deletes(at: 1))
        #expect(end.sequence(of: 0) == LinkRule.never && !end.isReplaced(nil) && !end.deletes(at: nil))
        #expect(!end.isReplaced(.nowhere) && !end.isReplaced(.unmatched) && end.isReplaced(LinkTarget(1)))
        #expect(ReplacedEnd().isEmpty && !ReplacedEnd().isReplaced(7) && !ReplacedEnd().deletes(at: 7))
    }
}
