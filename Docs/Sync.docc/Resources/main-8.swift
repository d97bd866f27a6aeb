import Foundation
import Sync

let model = try SyncModel(contentsOf: URL(fileURLWithPath: "model.json"))
let stack = try DataStack(model: model, at: URL(fileURLWithPath: "service.sqlite"))

let address = ProcessInfo.processInfo.environment["TODOS_URL"] ?? "http://127.0.0.1:8080"
guard let url = URL(string: address) else {
    print("\(address) is not a URL")
    exit(2)
}
let service = BuiltInService.rest(baseURL: url)
let engine = try SyncEngine(stack: stack, service: service, entities: ["Project", "Todo"])

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case nil:
    print(try await engine.sync())
    for todo in try await stack.fetch("Todo") { print(line(todo)) }
case "conflicts":
    for conflict in try await engine.conflicts() { print(conflict) }
case "follow":
    try await follow(stack, engine)
default:
    try await edit(arguments, in: stack)
    print(try await engine.pendingChangeCount(), "pending")
}
