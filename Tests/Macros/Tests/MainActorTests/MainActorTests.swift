import Foundation
import GRDB
import Sync
import Testing

/// The target is compiled with `.defaultIsolation(MainActor.self)`.
@Suite("@Entity in a module that is isolated to the main actor")
struct MainActorTests {
    @Test("Types isolated to the main actor are synced, fetched, observed and written outside of it")
    nonisolated func usedOutsideTheMainActor() async throws {
        let stack = try DataStack.inMemory(
            .init(Team.self, Player.self, Season.self, League.Trophy.self))
        let id = UUID()
        let json = Data(
            #"[{"id": 1, "name": "A", "players": [{"id": "\#(id)", "name": "Ann", "rank": "high", "spot": {"street": "x"}}]}]"#
                .utf8)
        let result = try await Sync.changes(json, as: Team.self, stack: stack)
        #expect(result[Team.self].inserted == [1])
        #expect(result[Player.self].inserted == [id])
        let team = try #require(try await stack.fetch(Team.self, id: 1, including: \.players))
        #expect(team.players.map(\.name) == ["Ann"])
        #expect(team.players.first?.rank == .high && team.players.first?.spot == Spot(street: "x"))
        try await stack.write { db in
            try Season(year: 2024, goals: 3, playerID: id).insert(db)
            try Season(year: 2024, goals: 4, playerID: id).update(db)
            #expect(try Season.filter { $0.goals == 4 }.fetchCount(db) == 1)
        }
        var lists = try stack.observe(League.Trophy.self).makeAsyncIterator()
        #expect(try await lists.next()?.isEmpty ?? false)
        try await Sync.changes([League.Trophy(code: "x")], stack: stack)
        #expect(try await lists.next()?.map(\.code) == ["x"])
    }

    @Test("Types isolated to the main actor are synced and fetched on it")
    func usedOnTheMainActor() async throws {
        let stack = try DataStack.inMemory(.init(Team.self, Player.self))
        var team = Team(id: 1, name: "A")
        team.players = [Player(id: UUID(), name: "Ann")]
        try await Sync.changes([team], stack: stack)
        let player = try #require(try await stack.fetch(Player.self, including: \.team).first)
        #expect(player.team?.name == "A" && player.teamID == 1)
    }
}
