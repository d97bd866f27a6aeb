import Foundation
import Sync

let model = try SyncModel(contentsOf: URL(fileURLWithPath: "model.json"))
let stack = try DataStack(model: model, at: URL(fileURLWithPath: "todos.sqlite"))

let payload = URL(fileURLWithPath: "todos.json")
print(try await Sync.changes(payload, inEntity: "Todo", stack: stack))
