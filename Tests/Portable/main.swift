// A store in a file, made, synced and opened again with Foundation's file functions, as on Windows.
import Foundation
import Sync

let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

let file = folder.appendingPathComponent("users.sqlite")
let model = try SyncModel(
    entities: [
        SyncModel.Entity(
            "User", attributes: [.init("id", Int.self, isPrimaryKey: true), .init("name", String?.self)])
    ])
let payload = folder.appendingPathComponent("users.json")
try Data(#"[{"id": 1, "name": "Ann"}, {"id": 2, "name": "Bob"}]"#.utf8).write(to: payload)

print(try await Sync.changes(payload, inEntity: "User", stack: DataStack(model: model, at: file)))
try Data(#"[{"id": 2, "name": "Rob"}]"#.utf8).write(to: payload)
let stack = try DataStack(model: model, at: file)
print(try await Sync.changes(payload, inEntity: "User", stack: stack))
print(try await stack.fetch("User").map { $0["name"]?.string ?? "" })
print(try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix(".") })
do {
    _ = try DataStack(model: model, at: folder.appendingPathComponent("missing/users.sqlite"))
} catch {
    print((error as? SyncError)?.code ?? error)
}
do {
    _ = try DataStack(model: model, at: folder)
} catch {
    print((error as? SyncError)?.code ?? error)
}
