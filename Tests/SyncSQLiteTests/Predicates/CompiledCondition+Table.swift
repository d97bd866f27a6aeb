import Foundation
import SyncCore

extension CompiledCondition {
    static let all = [
        CompiledCondition(
            entity: "User", predicate: .all,
            sql: #"(1)"#,
            arguments: ""),
        CompiledCondition(
            entity: "User", predicate: .where("age >= 18 AND (name == 'Ann' OR NOT active == TRUE)"),
            sql: #"""
                ((NOT "row"."active" IS ? OR "row"."name" IS ?) AND ("row"."age" >= ? AND "row"."age" IS NOT \#
                NULL))
                """#,
            arguments: #"1, 'Ann', 18"#),
        CompiledCondition(
            entity: "User", predicate: .where("NOT (age == 1 AND (active == FALSE OR score < 2))"),
            sql: #"""
                (NOT "row"."active" IS ? AND NOT ("row"."score" < ? AND "row"."score" IS NOT NULL) OR NOT \#
                "row"."age" IS ?)
                """#,
            arguments: #"0, 2.0, 1"#),
        CompiledCondition(
            entity: "User", predicate: .where("id > 5 AND id < 9.5 AND id != 7"),
            sql: #"""
                (("row"."id" > ? AND "row"."id" IS NOT NULL AND NOT "row"."id" < -4611686018427387904) AND \#
                ("row"."id" <= ? AND "row"."id" IS NOT NULL AND NOT "row"."id" < -4611686018427387904) AND NOT \#
                "row"."id" IS ?)
                """#,
            arguments: #"5, 9, 7"#),
        CompiledCondition(
            entity: "User", predicate: .where("age > 1e30 OR age < 1e30"),
            sql: #"(0 OR "row"."age" IS NOT NULL)"#,
            arguments: ""),
        CompiledCondition(
            entity: "User", predicate: .where("id IN {1, -9223372036854775807, nil}"),
            sql: #"""
                (((CASE WHEN "row"."id" < -4611686018427387904 THEN NULL ELSE "row"."id" END) IS NULL OR \#
                ("row"."id" IN (?, ?) AND "row"."id" IS NOT NULL)))
                """#,
            arguments: #"1, -9223372036854775807"#),
        CompiledCondition(
            entity: "User", predicate: .where("id IN %@", Array(1...101)),
            sql: #"((("row"."id" IN (SELECT value FROM json_each(?)) AND "row"."id" IS NOT NULL)))"#,
            arguments: #"""
                '[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,3\#
                5,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,64,65,66,6\#
                7,68,69,70,71,72,73,74,75,76,77,78,79,80,81,82,83,84,85,86,87,88,89,90,91,92,93,94,95,96,97,98,9\#
                9,100,101]'
                """#),
        CompiledCondition(
            entity: "User", predicate: .where("name IN %@", (1...101).map { "n\($0)" }),
            sql: #"((("row"."name" IN (SELECT value FROM json_each(?)) AND "row"."name" IS NOT NULL)))"#,
            arguments: #"""
                '["n1","n2","n3","n4","n5","n6","n7","n8","n9","n10","n11","n12","n13","n14","n15","n16","n17","\#
                n18","n19","n20","n21","n22","n23","n24","n25","n26","n27","n28","n29","n30","n31","n32","n33","\#
                n34","n35","n36","n37","n38","n39","n40","n41","n42","n43","n44","n45","n46","n47","n48","n49","\#
                n50","n51","n52","n53","n54","n55","n56","n57","n58","n59","n60","n61","n62","n63","n64","n65","\#
                n66","n67","n68","n69","n70","n71","n72","n73","n74","n75","n76","n77","n78","n79","n80","n81","\#
                n82","n83","n84","n85","n86","n87","n88","n89","n90","n91","n92","n93","n94","n95","n96","n97","\#
                n98","n99","n100","n101"]'
                """#),
        CompiledCondition(
            entity: "User", predicate: .where("name != nil AND name IN[c] {'Ann', 'BOB', nil}"),
            sql: #"""
                ("row"."name" IS NOT NULL AND ("row"."name" IS NULL OR ifnull(CAST(sync_fold(CAST("row"."name" \#
                AS BLOB)) AS BLOB) IN (?, ?), 0)))
                """#,
            arguments: #"X'616e6e', X'626f62'"#),
        CompiledCondition(
            entity: "User", predicate: .where("name ==[c] 'Ann' AND name <[c] 'b' AND name > 'A'"),
            sql: #"""
                (CAST(sync_fold(CAST("row"."name" AS BLOB)) AS BLOB) IS ? AND \#
                ifnull(CAST(sync_fold(CAST("row"."name" AS BLOB)) AS BLOB) < ?, 0) AND ("row"."name" > ? AND \#
                "row"."name" IS NOT NULL))
                """#,
            arguments: #"X'616e6e', X'62', 'A'"#),
        CompiledCondition(
            entity: "User", predicate: .where("name CONTAINS 'é' AND name CONTAINS[c] 'A' AND name CONTAINS ''"),
            sql: #"""
                (ifnull(instr(CAST("row"."name" AS BLOB), ?) > 0, 0) AND \#
                ifnull(instr(CAST(sync_fold(CAST("row"."name" AS BLOB)) AS BLOB), ?) > 0, 0) AND "row"."name" \#
                IS NOT NULL)
                """#,
            arguments: #"X'c3a9', X'61'"#),
        CompiledCondition(
            entity: "User", predicate: .where("name BEGINSWITH 'é' AND name ENDSWITH[c] 'Nn'"),
            sql: #"""
                (substr(CAST("row"."name" AS BLOB), 1, 2) IS ? AND substr(CAST(sync_fold(CAST("row"."name" AS \#
                BLOB)) AS BLOB), -2) IS ?)
                """#,
            arguments: #"X'c3a9', X'6e6e'"#),
        CompiledCondition(
            entity: "User", predicate: .where("name LIKE 'a*' AND name LIKE[c] 'A?'"),
            sql: #"""
                (ifnull(sync_like(CAST("row"."name" AS BLOB), ?), 0) AND \#
                ifnull(sync_like(CAST(sync_fold(CAST("row"."name" AS BLOB)) AS BLOB), ?), 0))
                """#,
            arguments: #"X'612a', X'613f'"#),
        CompiledCondition(
            entity: "User", predicate: .where("name MATCHES 'a.*' AND name MATCHES[c] '[a-z]+'"),
            sql: #"""
                (ifnull(sync_matches(CAST("row"."name" AS BLOB), ?, 0), 0) AND \#
                ifnull(sync_matches(CAST("row"."name" AS BLOB), ?, 1), 0))
                """#,
            arguments: #"X'612e2a', X'5b612d7a5d2b'"#),
        CompiledCondition(
            entity: "User", predicate: .where("name == %@ OR photo == %@ OR photo == 'AQID'", "x\0y", Data()),
            sql: #"("row"."name" IS CAST(? AS TEXT) OR "row"."photo" IS x'' OR "row"."photo" IS ?)"#,
            arguments: #"X'780079', X'010203'"#),
        CompiledCondition(
            entity: "User", predicate: .where("balance == 10.50 OR balance > 1.5 OR score BETWEEN {0.5, 2}"),
            sql: #"""
                ("row"."balance" IS ? OR ("row"."balance" > ? COLLATE sync_decimal AND "row"."balance" IS NOT \#
                NULL) OR (("row"."score" >= ? AND "row"."score" IS NOT NULL) AND ("row"."score" <= ? AND \#
                "row"."score" IS NOT NULL)))
                """#,
            arguments: #"'10.5', '1.5', 0.5, 2.0"#),
        CompiledCondition(
            entity: "User",
            predicate: .where("born < '2024-01-01' AND token == '0b6ae2f7-5e0b-4a55-8b46-3f8d3b7d0a11'"),
            sql: #"(("row"."born" < ? AND "row"."born" IS NOT NULL) AND "row"."token" IS ?)"#,
            arguments: #"'2024-01-01 00:00:00.000', '0B6AE2F7-5E0B-4A55-8B46-3F8D3B7D0A11'"#),
        CompiledCondition(
            entity: "User", predicate: .where("meta == '{\"b\": 1, \"a\": 2}' OR secret == nil OR site == 'x:y'"),
            sql: #"("row"."meta" IS ? OR "row"."secret" IS NULL OR "row"."site" IS ?)"#,
            arguments: #"'{"a":2,"b":1}', 'x:y'"#),
        CompiledCondition(
            entity: "User",
            predicate: .where("company == nil OR company == 1 OR company.name == 'Acme' OR company.country.code > 'A'"),
            sql: #"""
                ("row"."companyID" IS NULL OR "row"."companyID" IS ? OR (SELECT "row_1"."name" FROM "Company" \#
                AS "row_1" WHERE "row_1"."id" = "row"."companyID") IS ? OR ifnull((SELECT CASE WHEN \#
                "row_2"."countryID" GLOB \#
                'local-[0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f]-\#
                [0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f]-[0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f]-[0-9A-\#
                Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f]-[0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0\#
                -9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f]' THEN NULL ELSE \#
                "row_2"."countryID" END FROM "Company" AS "row_2" WHERE "row_2"."id" = "row"."companyID") > ?, \#
                0))
                """#,
            arguments: #"1, 'Acme', 'A'"#),
        CompiledCondition(
            entity: "User",
            predicate: .where("passport.number == 'P1' OR passport == nil OR address != nil OR favourite.tag < 3"),
            sql: #"""
                ((SELECT "row_1"."number" FROM "Passport" AS "row_1" WHERE "row_1"."ownerID" = "row"."id") IS ? \#
                OR (SELECT "row_2"."number" FROM "Passport" AS "row_2" WHERE "row_2"."ownerID" = "row"."id") IS \#
                NULL OR "row"."addressID" IS NOT NULL OR ifnull((SELECT CASE WHEN "row_3"."tag" < \#
                -4611686018427387904 THEN NULL ELSE "row_3"."tag" END FROM "Animal" AS "row_3" WHERE \#
                "row_3"."fanID" = "row"."id") < ?, 0))
                """#,
            arguments: #"'P1', 3"#),
        CompiledCondition(
            entity: "User",
            predicate: .where("ANY tags.title == 'red' AND ALL friends.age > 3 AND NONE animals.owner.id == 1"),
            sql: #"""
                (EXISTS (SELECT 1 FROM "Tag_users" AS "row_2", "Tag" AS "row_1" WHERE "row_2"."userID" = \#
                "row"."id" AND "row_1"."id" = "row_2"."tagID" AND "row_1"."title" IS ?) AND NOT EXISTS (SELECT \#
                1 FROM "User_friends" AS "row_4", "User" AS "row_3" WHERE "row_4"."userID" = "row"."id" AND \#
                "row_3"."id" = "row_4"."friendsID" AND NOT ("row_3"."age" > ? AND "row_3"."age" IS NOT NULL)) \#
                AND NOT EXISTS (SELECT 1 FROM "Animal" AS "row_5" WHERE "row_5"."ownerID" = "row"."id" AND \#
                "row_5"."ownerID" IS ?))
                """#,
            arguments: #"'red', 3, 1"#),
        CompiledCondition(
            entity: "User",
            predicate: .where("tags.@count > 2 AND animals == nil AND reports != nil AND company.users.@count == 1"),
            sql: #"""
                (ifnull((SELECT count(*) FROM "Tag_users" AS "row_2", "Tag" AS "row_1" WHERE "row_2"."userID" = \#
                "row"."id" AND "row_1"."id" = "row_2"."tagID") > ?, 0) AND NOT EXISTS (SELECT 1 FROM "Animal" \#
                AS "row_3" WHERE "row_3"."ownerID" = "row"."id") AND EXISTS (SELECT 1 FROM "User" AS "row_4" \#
                WHERE "row_4"."bossID" = "row"."id") AND (SELECT count(*) FROM "Company" AS "row_5", "User" AS \#
                "row_6" WHERE "row_5"."id" = "row"."companyID" AND "row_6"."companyID" = "row_5"."id") IS ?)
                """#,
            arguments: #"2, 1"#),
        CompiledCondition(
            entity: "Country",
            predicate: .where("code == 'US' OR code >= 'local-hero' OR code IN {'DE', 'local-hero'}"),
            sql: #"""
                ("row"."code" IS ? OR ("row"."code" >= ? AND "row"."code" IS NOT NULL AND NOT "row"."code" GLOB \#
                'local-[0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f]-\#
                [0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f]-[0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f]-[0-9A-\#
                Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f]-[0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0\#
                -9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f]') OR (("row"."code" \#
                IN (?, ?) AND "row"."code" IS NOT NULL)))
                """#,
            arguments: #"'US', 'local-hero', 'DE', 'local-hero'"#),
        CompiledCondition(
            entity: "Dog", predicate: .where("tag == 1 AND owner.name == 'Ann'"),
            sql: #"""
                ("row"."tag" IS ? AND (SELECT "row_1"."name" FROM "User" AS "row_1" WHERE "row_1"."id" = \#
                "row"."ownerID") IS ?) AND "row"."sync_entity" IN ('Dog')
                """#,
            arguments: #"1, 'Ann'"#),
    ]
}
