// Prints the values of the property wrappers without a store, with an empty store, and as its rows change.
import Foundation
import GRDB
import SwiftUI
import SyncCore
import SyncSQLite

struct User: EntityRecord {
    var id: Int
    var name: String?

    static let entityName = "User"
    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName, attributes: [.init("id", Int.self, isPrimaryKey: true), .init("name", String?.self)])
    }
    static var syncProperties: [PartialKeyPath<User>: SyncProperty] { [\.id: "id", \.name: "name"] }
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        let name: String? = try row.value("name")
        if name == "unreadable" { throw SyncError(.typeMismatch, "a name that the type does not know") }
        self.name = name
    }

    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        try row.set("name", to: name)
    }
}

@MainActor struct UserList {
    @StoreQuery(User.self, orderedBy: "name") var users
    @StoreQuery(User.self, id: 2) var second
    @StoreQuery(countOf: User.self) var count
    @StoreQuery("User", where: "name == 'Ann'") var records
    @StoreQuery(User.self, skippingUnreadable: { _ in }) var readable
    @StoreQuery(User.self, where: #Predicate { $0.id > 1 }, orderedBy: \.name, ascending: false) var later
    @StoreQuery(countOf: User.self, where: #Predicate { $0.name == "Ann" }) var anns

    /// Updates the wrappers, as SwiftUI does before it draws a view, and returns the text of the view.
    func draw() -> String {
        _users.update()
        _second.update()
        _count.update()
        _records.update()
        _readable.update()
        _later.update()
        _anns.update()
        return "\(users.map { $0.name ?? "" }) \(second?.name ?? "-") \(count) \(records.count)"
            + " \(later.map { $0.name ?? "" }) \(anns)"
    }

    /// Draws until the view has this text.
    func expect(_ text: String) async throws {
        while draw() != text { try await Task.sleep(for: .milliseconds(1)) }
        print("drawn:", text)
    }
}

let list = UserList()
print("drawn:", list.draw(), "loaded:", list.$users.isLoaded)
while list.$users.error == nil { try await Task.sleep(for: .milliseconds(1)) }
print("error:", list.$users.error?.localizedDescription ?? "")

let stack = try DataStack.inMemory(SyncModel(User.self))
EnvironmentValues.current.dataStack = stack
while list.draw() != "[] - 0 0 [] 0" || !list.$users.isLoaded { try await Task.sleep(for: .milliseconds(1)) }
print("loaded:", list.$users.isLoaded, "error:", list.$users.error == nil ? "none" : "still")
try stack.writer.write { db in
    for (id, name) in [(1, "Bob"), (2, "Ann")] {
        try db.execute(sql: "INSERT INTO User (id, name) VALUES (?, ?)", arguments: [id, name])
    }
}
try await list.expect(#"["Ann", "Bob"] Ann 2 1 ["Ann"] 1"#)
try stack.writer.write { db in try db.execute(sql: "DELETE FROM User WHERE id = 2") }
try await list.expect(#"["Bob"] - 1 0 [] 0"#)
try stack.writer.write { db in try db.execute(sql: "INSERT INTO User (id, name) VALUES (3, 'unreadable'), (4, 'Cy')") }
while list.$users.error == nil || list.readable.count < 2 {
    _ = list.draw()
    try await Task.sleep(for: .milliseconds(1))
}
print("readable:", list.readable.map { $0.name ?? "" }, "error:", list.$readable.error == nil ? "none" : "there")
