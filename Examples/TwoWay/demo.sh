#!/usr/bin/env bash
# Two devices of one user edit offline, and sync with a Kinto server that runs here. syncdb must be built and in the PATH.
set -euo pipefail
cd "$(dirname "$0")"

folder=../../.build/demo-engine
rm -rf "$folder" && mkdir -p "$folder"
mkfifo "$folder/input"

say() { printf '\n# %s\n' "$*"; }
show() { printf '\n%s:\n' "$1"; sqlite3 -box "$folder/$1.sqlite" "SELECT title, done, points, Project.name AS project
    FROM Task LEFT JOIN Project ON Project.id = projectID ORDER BY title"; }
on() { # on DEVICE COMMAND…: syncdb with the database of a device
    local device=$1 command=$2; shift 2
    printf '$ syncdb %s --database %s.sqlite --config service.json %s\n' "$command" "$device" "$*"
    syncdb "$command" --database "$folder/$device.sqlite" --config service.json "$@"
}
edit() { printf '%s edits:  %s\n' "$1" "$2"; sqlite3 "$folder/$1.sqlite" "PRAGMA foreign_keys = ON; $2"; }

say "Starting a Kinto server (from PyPI, the first time)."
# It ends when its input is closed, which is when this script ends.
python3 ../../Tests/Servers/kinto.py <"$folder/input" >"$folder/port" 2>"$folder/kinto.log" &
exec 3>"$folder/input"
for _ in $(seq 600); do [[ -s $folder/port ]] && break; kill -0 $! 2>/dev/null || break; sleep 0.1; done
port=$(cut -d' ' -f2 "$folder/port" 2>/dev/null || true)
if [[ -z $port ]]; then
    echo "Kinto does not start; PyPI may be out of reach: $(tail -n 1 "$folder/kinto.log")" >&2
    exit 1
fi
export KINTO_URL=http://127.0.0.1:$port/v1
KINTO_USER=$(printf 'ada:secret' | base64)
export KINTO_USER
for _ in $(seq 300); do curl -s -o /dev/null "$KINTO_URL/__heartbeat__" && break; sleep 0.1; done

say "The laptop has a project with three tasks, made with plain SQL, and syncs: they go to the server."
on laptop pull --model model.json >/dev/null
edit laptop "INSERT INTO Project (id, name) VALUES ('p1', 'House');
    INSERT INTO Task (id, title, points, done, projectID) VALUES
    ('t1', 'paint the door', 2, 0, 'p1'), ('t2', 'mend the roof', 8, 0, 'p1'), ('t3', 'buy nails', 1, 0, 'p1')"
on laptop sync

say "The phone is new: it pulls them."
on phone sync --model model.json
show phone

say "Both are offline now, and both edit."
edit laptop "UPDATE Task SET title = 'paint the red door' WHERE id = 't1'"
edit phone "UPDATE Task SET done = 1 WHERE id = 't1'"
echo '   the same task, different fields: both will survive'
edit laptop "UPDATE Task SET points = 13 WHERE id = 't2'"
edit phone "UPDATE Task SET points = 5 WHERE id = 't2'"
echo '   the same field: a conflict; by the policy clientWins whoever syncs last has its way, and the other value is in the log'
edit laptop "DELETE FROM Task WHERE id = 't3'"
edit phone "UPDATE Task SET title = 'buy 100 nails' WHERE id = 't3'"
echo '   deleted here, edited there: by deleteWins it goes, and the edit is in the log'
edit phone "INSERT INTO Task (id, title, points, projectID) VALUES ('t4', 'call the plumber', 3, 'p1')"

say "The pending changes of the phone:"
on phone status

say "The laptop syncs first, then the phone, then the laptop once more."
on laptop sync
on phone sync
on laptop sync

say "Both have the same."
show laptop
show phone

say "The conflicts that the phone resolved, with their reasons."
on phone conflicts

say "There is nothing left to do."
on laptop sync
on phone sync
printf '\nThe databases are in .build/demo-engine; look at them with: sqlite3 -box .build/demo-engine/phone.sqlite\n'
printf 'service.json and model.json are in Examples/TwoWay.\n'
