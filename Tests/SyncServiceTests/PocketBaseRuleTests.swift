import Foundation
import GRDB
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService
@testable import SyncTools

/// Rules that hide rows and forbid changes, and expired credentials, with a real PocketBase server.
@Suite(
    "Rules of PocketBase",
    .enabled("PocketBase comes from PyPI, which cannot be reached") { await PocketBaseServer.isThere })
struct PocketBaseRuleTests {
    private static let own: [String: JSONValue] = [
        "listRule": "owner = @request.auth.id", "viewRule": "owner = @request.auth.id",
        "updateRule": "owner = @request.auth.id && done = false",
        "deleteRule": "owner = @request.auth.id && done = false",
    ]
    private static let schema = """
        {"entities": {"Task": {"attributes": {"id": {"type": "string", "primaryKey": true}, "title": "string",
          "points": "integer", "done": "boolean", "owner": "string"}}}}
        """

    private func device(
        _ space: PocketBaseSpace, _ authorization: String, _ deletions: DeleteConflictPolicy = .deleteWins
    ) throws -> Device {
        var configuration = Device.configuration
        configuration.deletionLimit = nil
        configuration.deleteConflictPolicy = deletions
        return try Device(
            space.service(authorization: authorization), schema: Self.schema, entities: ["Task"], configuration)
    }

    private func add(_ space: PocketBaseSpace, _ id: String, _ title: String, _ owner: String) async throws {
        try await space.add(space.tasks, ["id": .string(id), "title": .string(title), "owner": .string(owner)])
    }

    @Test("A row that moves to another user is deleted locally, stays on the service, and its edit is logged")
    func hidden() async throws {
        let space = try await PocketBaseServer.shared.space(rules: Self.own)
        let (ada, bob) = (try await space.user(), try await space.user())
        try await add(space, "aaaaaaaaaaaaaaa", "stays", ada.id)
        try await add(space, "bbbbbbbbbbbbbbb", "edited", ada.id)
        try await add(space, "ccccccccccccccc", "goes", ada.id)
        let device = try device(space, ada.token)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["3"])
        try await space.change(space.tasks, "bbbbbbbbbbbbbbb", ["owner": .string(bob.id)])
        try await space.change(space.tasks, "ccccccccccccccc", ["owner": .string(bob.id)])
        try await device.write("UPDATE Task SET title = 'unsent' WHERE title = 'edited'")
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title FROM Task") == ["stays"])
        #expect(try await device.leftovers() == [])
        let rows = try await space.rows(space.tasks)
        #expect(rows.compactMap { $0["title"] } == ["stays", "edited", "goes"])
        let logged = try await device.engine.conflicts().filter { $0.local == "unsent" }
        #expect(logged.map(\.why) == ["deleted by the service, or hidden from the user"])
        // The row can be restored. It is then blocked and not lost.
        try await device.engine.restoreDeleted("Task", key: "bbbbbbbbbbbbbbb")
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title FROM Task ORDER BY title") == ["stays", "unsent"])
        #expect(
            try await device.engine.blockedChanges().map(\.reason) == [
                "another row, hidden from the user, has this ID"
            ])
        #expect(try await space.row(space.tasks, "bbbbbbbbbbbbbbb")["title"] == "edited")
    }

    @Test("With editWins, an edited row that was hidden stays locally, and the service is not changed")
    func editWins() async throws {
        let space = try await PocketBaseServer.shared.space(rules: Self.own)
        let (ada, bob) = (try await space.user(), try await space.user())
        try await add(space, "bbbbbbbbbbbbbbb", "edited", ada.id)
        let device = try device(space, ada.token, .editWins)
        try await device.engine.sync()
        try await space.change(space.tasks, "bbbbbbbbbbbbbbb", ["owner": .string(bob.id)])
        try await device.write("UPDATE Task SET title = 'unsent'")
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title FROM Task") == ["unsent"])
        #expect(
            try await device.engine.blockedChanges().map(\.reason) == [
                "another row, hidden from the user, has this ID"
            ])
        #expect(try await space.row(space.tasks, "bbbbbbbbbbbbbbb")["title"] == "edited")
    }

    @Test("A change that the rules forbid is blocked, and its row is not taken for deleted")
    func forbidden() async throws {
        let space = try await PocketBaseServer.shared.space(rules: Self.own)
        let ada = try await space.user()
        try await add(space, "aaaaaaaaaaaaaaa", "one", ada.id)
        try await add(space, "bbbbbbbbbbbbbbb", "two", ada.id)
        let device = try device(space, ada.token)
        try await device.engine.sync()
        for id in ["aaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbb"] { try await space.change(space.tasks, id, ["done": true]) }
        try await device.write("UPDATE Task SET title = 'edited' WHERE title = 'one'")
        try await device.write("DELETE FROM Task WHERE title = 'two'")
        try await device.engine.sync()
        let reasons = try await device.engine.blockedChanges().map(\.reason).sorted()
        #expect(
            reasons == [
                "the delete rule of '\(space.tasks)' does not allow the deletion",
                "the update rule of '\(space.tasks)' does not allow the change",
            ])
        #expect(try await space.rows(space.tasks).count == 2)
        #expect(try await device.rows("SELECT title, done FROM Task") == ["edited 1"])
    }

    // MARK: Credentials

    @Test("An expired token requests a new one, and the empty list deletes no row")
    func token() async throws {
        let space = try await PocketBaseServer.shared.space(rules: Self.own)
        let ada = try await space.user()
        try await add(space, "aaaaaaaaaaaaaaa", "one", ada.id)
        let wallet = Wallet(space, ada.mail)
        var configuration = Device.configuration
        configuration.deletionLimit = nil
        let device = try Device(
            space.service(credentials: .authorization { _ in try await wallet.token() }), schema: Self.schema,
            entities: ["Task"], configuration)
        try await device.engine.sync()
        #expect(await wallet.count == 1)
        // A new password makes all tokens invalid. The list is then empty, without an error.
        try await space.change("users", ada.id, ["password": "password2", "passwordConfirm": "password2"])
        await wallet.change(to: "password2")
        try await device.write("UPDATE Task SET points = 7")
        try await add(space, "bbbbbbbbbbbbbbb", "two", ada.id)
        let report = try await device.engine.sync()
        #expect(await wallet.count == 2)
        #expect(report.total.pulledDeletes == 0 && report.total.pushedUpdates == 1 && report.total.pulledInserts == 1)
        #expect(try await space.row(space.tasks, "aaaaaaaaaaaaaaa")["points"] == 7)
        // Without a valid token the run fails, and nothing is blocked or deleted.
        try await space.change("users", ada.id, ["password": "password3", "passwordConfirm": "password3"])
        try await device.write("UPDATE Task SET points = 8")
        let error = await #expect(throws: SyncError.self) { try await device.engine.sync() }
        #expect(error?.code == .unauthorized)
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["2"])
        #expect(try await device.engine.blockedChanges().isEmpty)
        #expect(try await device.engine.pendingChangeCount() == 2)
    }

    @Test("A configuration signs in with a password")
    func login() async throws {
        let space = try await PocketBaseServer.shared.space(rules: Self.own)
        let ada = try await space.user()
        try await add(space, "aaaaaaaaaaaaaaa", "one", ada.id)
        let json: JSONValue = [
            "service": "pocketbase", "url": .string(space.url.absoluteString),
            "entities": ["Task": ["path": .string(space.tasks)]],
            "pocketbase": ["login": ["identity": "${PB_USER}", "password": "${PB_PASSWORD}"]],
        ]
        func device(_ password: String) throws -> Device {
            let configuration = try ServiceConfigurationFile(
                JSONEncoder().encode(json), environment: ["PB_USER": ada.mail, "PB_PASSWORD": password])
            return try Device(
                configuration.service(), schema: Self.schema, entities: configuration.entities,
                configuration.engineConfiguration)
        }
        let right = try device("password1")
        try await right.engine.sync()
        #expect(try await right.rows("SELECT title FROM Task") == ["one"])
        let wrong = try device("password7")
        let error = await #expect(throws: SyncError.self) { try await wrong.engine.sync() }
        #expect(error?.code == .unauthorized)
        #expect(error?.message.contains("cannot sign in as") == true && error?.message.contains("password7") == false)
    }
}

/// The tokens of a user, and their number.
private actor Wallet {
    private let space: PocketBaseSpace
    private let mail: String
    private var password = "password1"
    private var last = ""
    private(set) var count = 0

    init(_ space: PocketBaseSpace, _ mail: String) { (self.space, self.mail) = (space, mail) }

    func change(to password: String) { self.password = password }

    func token() async throws -> String {
        count += 1
        let answer = try? await PocketBaseSpace.send(
            .post, space.url, "collections/users/auth-with-password",
            ["identity": .string(mail), "password": .string(password)], token: nil)
        // After a failed login the old token is used again.
        if case .string(let token)? = answer?["token"] { last = token }
        return last
    }
}
