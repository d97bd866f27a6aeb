import Foundation
import GRDB
import Sync
import Testing

@Suite("Changed rows in the lists of fetched values")
struct ChangedListRowTests {
    private let stack: DataStack

    init() async throws {
        stack = try DataStack.inMemory(SyncModel(Team.self, Player.self, Club.self))
        let json: JSONValue = [
            [
                "id": 1, "name": "t", "club": ["id": 1, "name": "c"],
                "players": [
                    ["id": 1, "name": "a", "clubs": [["id": 8, "name": "x"], ["id": 9, "name": "y"]]],
                    ["id": 2, "name": "b"], ["id": 3, "name": "d"],
                ],
            ],
            ["id": 2, "name": "u", "players": [["id": 4, "name": "e"]]],
        ]
        try await Sync.changes(json, inEntity: "Team", stack: stack)
    }

    private func team(_ id: Int = 1) async throws -> Team {
        try #require(
            try await stack.fetch(Team.self, id: id, including: \.players.each?.clubs, \.club))
    }

    private func update(_ entity: String, _ id: JSONValue, _ values: JSONValue) async throws {
        #expect(try await Sync.update(id: id, with: values, inEntity: entity, stack: stack) != nil)
    }

    private func expect(_ players: String, in id: Int = 1, _ location: SourceLocation = #_sourceLocation) async throws {
        let found = try await team(id).players.map(\.name).joined(separator: " ")
        #expect(found == players, sourceLocation: location)
    }

    /// Saves with `save` or with a sync.
    private func save(_ teams: [Team], _ isSync: Bool) async throws -> SyncResult {
        isSync ? try await Sync.changes(teams, stack: stack) : try await stack.save(teams)
    }

    @Test("A changed row keeps the list that others moved it to", arguments: [true, false])
    func movedByOthers(isSync: Bool) async throws {
        var held = try await team()
        try await update("Player", 1, ["team_id": 2])
        held.players[0].name = "A"
        _ = try await save([held], isSync)
        try await expect("b d")
        #expect(try await stack.fetch(Player.self, id: 1)?.name == "A")
        #expect(try await stack.fetch(Player.self, id: 1)?.teamID == 2)
    }

    @Test("A changed or appended row keeps the order that others made", arguments: [true, false])
    func orderedByOthers(isSync: Bool) async throws {
        var held = try await team()
        try await update("Team", 1, ["players": [["id": 3], ["id": 2], ["id": 1]]])
        held.players[0].name = "A"
        _ = try await save([held], isSync)
        try await expect("d b A")
        held.players.append(Player(id: 7, name: "n"))
        _ = try await save([held], isSync)
        let names = try await team().players.map(\.name)
        #expect(names.filter { $0 != "n" } == ["d", "b", "A"] && names.contains("n"))
    }

    @Test("A changed row keeps links that others removed", arguments: [true, false])
    func unlinkedByOthers(isSync: Bool) async throws {
        var held = try await team()
        try await update("Player", 1, ["clubs": [["id": 9]]])
        held.players[0].clubs[0].name = "X"
        held.club?.name = "C"
        try await update("Team", 1, ["club": ["id": 9]])
        _ = try await save([held], isSync)
        #expect(try await team().players[0].clubs.map(\.name) == ["y"])
        #expect(try await team().clubID == 9)
        #expect(try await stack.fetch(Club.self, orderedBy: "id").map(\.name) == ["C", "X", "y"])
    }

    @Test("A save of the owner keeps a row that was saved through a copy")
    func savedCopyOfRow() async throws {
        var held = try await team()
        var detail = held.players[0]
        detail.name = "A"
        try await stack.save(detail)
        held.name = "T"
        let result = try await stack.save(held)
        #expect(result["Team"].updatedCount == 1 && result["Player"].isEmpty)
        try await expect("A b d")
        try await stack.delete(detail)
        held.name = "U"
        try await stack.save(held)
        try await expect("b d")
        // The owner sets a value of its own row back.
        held.players[1].name = "B"
        try await stack.save(held)
        held.players[1].name = "b"
        try await stack.save(held)
        try await expect("b d")
    }

    @Test("A row moves from one loaded list to another, in any order of the lists", arguments: [true, false])
    func movesBetweenLists(isSync: Bool) async throws {
        for isReversed in [true, false] {
            var (from, to) = (try await team(1), try await team(2))
            let first = try #require(from.players.first)
            from.players.removeFirst()
            to.players.append(first)
            _ = try await save(isReversed ? [to, from] : [from, to], isSync)
            #expect(try await stack.fetch(Player.self, id: first.id)?.teamID == 2)
        }
        try await expect("d")
        try await expect("e a b", in: 2)
    }

    @Test("A row moves from a list to a list of a related row, and back", arguments: [true, false])
    func movesBetweenLevels(editsRow: Bool) async throws {
        // Club 8 has the player 1, whose team has the players 1 to 3.
        try await stack.update(Club.self, id: 8, including: \.players.each?.team?.players) { club in
            var moved = Player(id: 9, name: "new")
            if let player = club.players[0].team?.players.remove(at: 1) { moved = player }
            if editsRow { moved.score = 5 }
            club.players.append(moved)
        }
        let moved = try #require(try await stack.fetch(Player.self, id: 2))
        #expect(moved.name == "b" && moved.score == (editsRow ? 5 : nil))
        #expect(try await stack.fetch(Club.self, id: 8, including: \.players)?.players.map(\.id).sorted() == [1, 2])
    }

    @Test("A row that is removed, saved and added again is in the list", arguments: [1, 2])
    func addsRowAgain(owner: Int) async throws {
        var (one, two) = (try await team(1), try await team(2))
        let row = one.players.remove(at: 0)
        if owner == 2 { two.players.append(row) }
        try await stack.save([one, two])
        two.players.removeAll { $0.id == row.id }
        one.players.append(row)
        try await stack.save([one, two])
        #expect(try await stack.fetch(Player.self, id: 1)?.teamID == 1)
        try await expect("b d a")
    }

    @Test("After a save in the caller's transaction, a save keeps what others did to the list")
    func othersChangeListAfterTransaction() async throws {
        var held = try await team()
        held.players.append(Player(id: 7, name: "n"))
        let values = [held]
        _ = try await stack.write { [stack] db in try stack.save(values, in: db) }
        try await update("Player", 2, ["team_id": 2])
        try await Sync.delete(id: 3, inEntity: "Player", stack: stack)
        held.name = "T"
        try await stack.save(held)
        try await expect("a n")
        #expect(try await stack.count(Player.self) == 4)
    }

    @Test("Lists of different relationships, and many-to-many lists, keep their rows")
    func addsToSeveralLists() async throws {
        var (a, b) = (
            try #require(try await stack.fetch(Player.self, id: 1)),
            try #require(try await stack.fetch(Player.self, id: 2))
        )
        a.clubs.append(try #require(try await stack.fetch(Club.self, id: 1)))
        b.clubs.append(try #require(try await stack.fetch(Club.self, id: 8)))
        try await Sync.changes([a, b], stack: stack)
        let clubs = try await stack.fetch(Player.self, orderedBy: "id", including: \.clubs).map { $0.clubs.map(\.id) }
        #expect(clubs.map { $0.sorted() } == [[1, 8, 9], [8], [], []])
    }

    @Test("Two rows are exchanged between two loaded lists")
    func exchangesRows() async throws {
        var (one, two) = (try await team(1), try await team(2))
        let (a, e) = (one.players[0], two.players[0])
        one.players[0] = e
        two.players[0] = a
        try await stack.save([one, two])
        #expect(try await stack.fetch(Player.self, id: 1)?.teamID == 2)
        #expect(try await stack.fetch(Player.self, id: 4)?.teamID == 1)
    }

    @Test("A key that is set in a row of a list moves the row")
    func movesRowByKey() async throws {
        var held = try await team()
        held.players[1].teamID = 2
        held.players[0].name = "A"
        try await stack.save(held)
        try await expect("A d")
        try await expect("e b", in: 2)
    }

    @Test("A changed row that was deleted meanwhile is inserted again, in its list")
    func deletedByOthers() async throws {
        var held = try await team()
        try await Sync.delete(id: 2, inEntity: "Player", stack: stack)
        try await Sync.delete(id: 3, inEntity: "Player", stack: stack)
        held.players[1].name = "B"
        try await stack.save(held)
        try await expect("a B")
    }

    @Test("A fetched row that is added to another list is linked, and only its changes are written")
    func linksFetchedRow() async throws {
        var player = try #require(try await stack.fetch(Player.self, id: 1))
        var other = try await team(2)
        try await update("Player", 1, ["name": "Ann"])
        player.score = 2
        other.players.append(player)
        try await stack.save(other)
        let found = try #require(try await stack.fetch(Player.self, id: 1))
        #expect(found.name == "Ann" && found.score == 2 && found.teamID == 2)
        var first = try await team(1)
        first.players.append(player)
        try await stack.save(first)
        #expect(try await stack.fetch(Player.self, id: 1)?.teamID == 1)
    }
}

private struct Team: EntityRecord {
    var id: Int
    var name: String
    var clubID: Int?
    var _players = RelatedRows<Player>()
    var _club = RelatedRows<Club>()
    var players: [Player] {
        get { _players.rows ?? [] }
        set { _players.rows = newValue }
    }
    var club: Club? {
        get { _club.row(withKey: clubID) }
        set {
            _club.rows = newValue.map { [$0] } ?? []
            clubID = newValue?.syncKey
        }
    }
    var syncFetchedRow = FetchedRow()

    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName, attributes: [.init("id", Int.self, isKey: true), .init("name", String.self)],
            relationships: [
                .init("players", to: Player.self, many: true, ordered: true, inverse: "team"),
                .init("club", to: Club.self),
            ])
    }
    static var syncProperties: [PartialKeyPath<Team>: SyncProperty] {
        [
            \.id: "id", \.players: SyncProperty("players", to: Player.self, inOptional: \Team?.?.players),
            \.players.each: SyncProperty("players", to: Player.self, inOptional: \Team?.?.players.each),
            \.club: SyncProperty("club", to: Club.self),
        ]
    }
    typealias SyncKey = Int
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        name = try row.value("name")
        clubID = try row.value("clubID")
    }
    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        try row.set("name", to: name)
        row.setForeignKey("club", to: clubID, in: "clubID")
        row.setRelated("players", to: _players)
        row.setRelated("club", to: _club, withKey: clubID)
    }
    mutating func setRelated(_ rows: [any EntityRecord], for relationship: String) {
        if relationship == "players" { _players.load(rows) } else { _club.load(rows) }
    }
}

private struct Player: EntityRecord {
    var id: Int
    var name: String
    var score: Int?
    var teamID: Int?
    var _team = RelatedRows<Team>()
    var team: Team? {
        get { _team.row(withKey: teamID) }
        set {
            _team.rows = newValue.map { [$0] } ?? []
            teamID = newValue?.syncKey
        }
    }
    var _clubs = RelatedRows<Club>()
    var clubs: [Club] {
        get { _clubs.rows ?? [] }
        set { _clubs.rows = newValue }
    }
    var syncFetchedRow = FetchedRow()

    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName,
            attributes: [
                .init("id", Int.self, isKey: true), .init("name", String.self), .init("score", Int?.self),
            ],
            relationships: [
                .init("team", to: Team.self, inverse: "players"),
                .init("clubs", to: Club.self, many: true, inverse: "players"),
            ])
    }
    static var syncProperties: [PartialKeyPath<Player>: SyncProperty] {
        [
            \.id: "id", \.name: "name", \.score: "score",
            \.team: SyncProperty("team", to: Team.self, inOptional: \Player?.?.team),
            \.clubs: SyncProperty("clubs", to: Club.self, inOptional: \Player?.?.clubs),
        ]
    }
    typealias SyncKey = Int
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(id: Int, name: String) { (self.id, self.name) = (id, name) }
    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        name = try row.value("name")
        score = try row.value("score")
        teamID = try row.value("teamID")
    }
    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        try row.set("name", to: name)
        try row.set("score", to: score)
        row.setForeignKey("team", to: teamID, in: "teamID")
        row.setRelated("team", to: _team, withKey: teamID)
        row.setRelated("clubs", to: _clubs)
    }
    mutating func setRelated(_ rows: [any EntityRecord], for relationship: String) {
        if relationship == "team" { _team.load(rows) } else { _clubs.load(rows) }
    }
}

private struct Club: EntityRecord {
    var id: Int
    var name: String
    var _players = RelatedRows<Player>()
    var players: [Player] {
        get { _players.rows ?? [] }
        set { _players.rows = newValue }
    }
    var syncFetchedRow = FetchedRow()

    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName, attributes: [.init("id", Int.self, isKey: true), .init("name", String.self)],
            relationships: [.init("players", to: Player.self, many: true, inverse: "clubs")])
    }
    static var syncProperties: [PartialKeyPath<Club>: SyncProperty] {
        [
            \.id: "id", \.name: "name", \.players: SyncProperty("players", to: Player.self),
            \.players.each: SyncProperty("players", to: Player.self, inOptional: \Club?.?.players.each),
        ]
    }
    typealias SyncKey = Int
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        name = try row.value("name")
    }
    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        try row.set("name", to: name)
        row.setRelated("players", to: _players)
    }
    mutating func setRelated(_ rows: [any EntityRecord], for relationship: String) { _players.load(rows) }
}
