import Foundation
import Sync

let model = try SyncModel(contentsOf: URL(fileURLWithPath: "model.json"))
let stack = try DataStack(model: model, at: URL(fileURLWithPath: "todos.sqlite"))
