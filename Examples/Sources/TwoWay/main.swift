import Foundation
import Sync

guard let serviceURL = CommandLine.arguments.dropFirst().first.flatMap(URL.init(string:)) else { exit(2) }
let schema = #"{"entities": {"Todo": {"attributes": {"id": "integer", "title": "string", "done": "boolean"}}}}"#
let stack = try DataStack(model: SyncModel(schemaData: Data(schema.utf8)), at: URL(fileURLWithPath: "todos.sqlite"))

var options = RESTOptions()  // {"data": [{"id": 1, "title": "…", "updated_at": "…"}], "total_pages": 3}
options.recordsKeyPath = "data"
options.paging = .page(size: "per_page", total: "total_pages")
options.sinceParameter = "updated_since"
options.versionField = "updated_at"
options.deletedField = "deleted_at"
options.idempotencyHeader = "Idempotency-Key"
let service = BuiltInService.rest(baseURL: serviceURL, options: options)
let engine = try SyncEngine(
    stack: stack, service: service, entities: [SyncedEntity("Todo", conflictPolicy: .lastWriterWins)])

try await stack.insert("Todo", values: ["title": "made offline"])
let report = try await engine.sync()  // and again whenever there is a network
print("\(report.total.pulledInserts) new here, \(report.total.pushedInserts) new there")
for todo in try await stack.fetch("Todo") { print(todo) }
