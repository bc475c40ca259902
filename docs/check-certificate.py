import datetime, hashlib, itertools, json, math, re, sys
import nacl.exceptions, nacl.signing

def refuse(why):
    sys.exit(f"refused: {why}")

def ensure(holds, why):
    if not holds:
        refuse(why)

def number(value):  # as RFC 8785 has it
    if isinstance(value, int):
        return str(value)
    if value == math.trunc(value) and abs(value) < 2**53:
        return str(int(value))
    mantissa, _, exponent = repr(value).partition("e")
    sign, digits = ("-", mantissa[1:]) if mantissa[0] == "-" else ("", mantissa)
    whole, _, fraction = digits.partition(".")
    fraction = "" if fraction == "0" else fraction
    point = len(whole) + int(exponent or 0)
    digits = whole + fraction
    point -= len(digits) - len(digits.lstrip("0"))
    digits = digits.strip("0")
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    head = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return f"{sign}{head}e{'+' if point > 0 else ''}{point - 1}"

def jcs(value):
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{jcs(name)}:{jcs(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(jcs, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(value)
    return json.dumps(value, ensure_ascii=False)

def bounded(value, depth=1):  # the bounds of JSON in section 2 of the protocol
    if isinstance(value, str):
        return not re.search("[\ud800-\udfff]", value)
    if isinstance(value, (int, float)):
        return abs(value) < 2**53
    if isinstance(value, dict):
        forbidden = {"__proto__", "constructor", "prototype"} & value.keys()
        return depth <= 16 and not forbidden and all(
            bounded(name) and bounded(member, depth + 1) for name, member in value.items())
    return value is None or depth <= 16 and all(bounded(one, depth + 1) for one in value)

def integral(text):  # 3.0 and 3e0 are the integer 3
    value = float(text)
    return int(value) if abs(value) < 2**53 and value == math.trunc(value) else value

def members(pairs):
    ensure(len(dict(pairs)) == len(pairs), "a member appears twice in one object")
    return dict(pairs)

def parse(text):
    value = json.loads(text, parse_float=integral, object_pairs_hook=members,
                       parse_constant=lambda name: refuse(f"{name} is not JSON"))
    ensure(bounded(value), "JSON beyond the bounds of section 2")
    return value

def fits(value, shape):  # a pattern, a largest integer, [of items, least number], members
    if isinstance(shape, str):
        return isinstance(value, str) and bool(re.fullmatch(shape, value, re.DOTALL))
    if isinstance(shape, int):
        return type(value) is int and 0 <= value <= shape
    if isinstance(shape, list):
        return isinstance(value, list) and shape[1] <= len(value) <= 1_000_000 and all(
            fits(one, shape[0]) for one in value)
    if not isinstance(value, dict) or not {*shape} - {"entry", "choice"} <= value.keys():
        return False
    return value.keys() <= shape.keys() and all(fits(value[name], shape[name]) for name in value)

def same(found, expected):  # 1 is not true
    return jcs(found) == jcs(expected)

def sha(data):
    return hashlib.sha256(data if isinstance(data, bytes) else data.encode()).hexdigest()

def frame(parts):
    return b"".join(len(part).to_bytes(8, "big") + part for part in map(str.encode, parts))

def is_hex(text, length):
    return fits(text, f"[0-9a-fA-F]{{{length}}}")

def signed(text, key, signature, what):
    ensure(is_hex(key, 64) and is_hex(signature, 128), f"no key and signature: {what}")
    try:
        nacl.signing.VerifyKey(bytes.fromhex(key)).verify(text.encode(), bytes.fromhex(signature))
    except (nacl.exceptions.BadSignatureError, ValueError):
        refuse(f"the signature of {what} is bad")

def unsigned(body):
    return {name: body[name] for name in body if name != "signature"}

def agent_id(key):
    return "agent_" + sha("agentnet-v1-agent\n" + key)[:32]

def instant(at):
    time = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=at)
    return time.isoformat(timespec="milliseconds") + "Z"

HASH, TEXT, COUNT, LATEST = "[0-9a-f]{64}", ".*", 2**53 - 1, 253402300799999
NETWORK = OPTION = "[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}"
ENTRY = {"at": LATEST, "kind": "genesis|register|propose|vote|tick"}
ENTRY |= dict.fromkeys("public_key target timestamp signature body".split(), TEXT)
CHAINS = {"digest": HASH, "log_digest": HASH}
LINK = {"entry": ENTRY, "log_digest": HASH, "results": [TEXT, 0]}
SPAN = {"first": COUNT, "before": CHAINS, "links": [LINK, 1], "after": CHAINS}
CLAIM = {"network_id": NETWORK, "block_hash": HASH, "status": "finalized|rejected",
         "choice": OPTION}
CLAIM |= dict.fromkeys("height approve reject total".split(), COUNT)
SHAPE = {"format": "folkmoot certificate 1", "claim": CLAIM, "spans": [SPAN, 1]}
ZERO = {"digest": "0" * 64, "log_digest": "0" * 64}
NAMES = "at kind public_key target timestamp signature body".split()
EVENTS = """agent_status alliance_update block_proposal block_status block_validation
    consensus_discussion meme_posted network_metrics reputation_update""".split()
ONCE = "agents equivocations memes transactions votes".split()
COUNTED = {"agent_numbers": 0, "block_numbers": 0, "electorates": 0, "heights": 1, "events": 1}
TABLES = """agent_states alliances blocks network open requests standings state
    agent_numbers block_numbers electorates heights""".split() + ONCE
SINGLE = "agents agent_numbers block_numbers electorates equivocations heights memes votes".split()
NAMED = {"block_validation": "validator", "consensus_discussion": "agent", "meme_posted": "creator"}

def read_body(entry):  # conditions 4 and 5
    kind, text = entry["kind"], entry["body"]
    size = len(text.encode())
    ensure(size <= (2 << 20 if kind == "propose" else 64 << 10), f"{size} bytes of {kind}")
    if kind in ("genesis", "tick"):
        names = ("public_key", "target", "timestamp", "signature")
        ensure(all(entry[name] == "" for name in names), f"a signed {kind}")
    if kind == "tick":
        return ensure(text == "", "a tick with a body")
    body = parse(text)
    ensure(isinstance(body, dict), "a body that is not an object")
    if kind == "propose":
        ensure(isinstance(body["transactions"], list), "no transactions")
        ensure(len(body["transactions"]) <= 1000, "more than 1,000 transactions")
        for tx in body["transactions"]:
            ensure(isinstance(tx["data"], str) and 1 <= len(tx["data"].encode()) <= 4096, "data")
            ensure(is_hex(tx["hash"], 64) and is_hex(tx["signature"], 128), "hash or signature")
            ensure("sender" not in tx or is_hex(tx["sender"], 64), "sender")
    return body

def read_results(texts):  # condition 9
    events, records, known = [], {}, set()
    for text in texts:
        value = parse(text)
        ensure(jcs(value) == text, "results that are not canonical")
        if isinstance(value, list):
            table, key, new = value
            ensure(table in TABLES and (new is None or isinstance(new, (dict, list))), "a record")
            what = table if table in SINGLE else (table, jcs(key))
            ensure(what not in known, f"{what} twice in an entry")
            known.add(what)
            records[table, jcs(key)] = (key, new)
        else:
            ensure(not records and value.keys() == {"data", "seq", "type"}, "an event")
            ensure(value["type"] in EVENTS and isinstance(value["data"], dict), "an event")
            events.append(value)
    return events, records

def read_spans(spans, trusted):  # conditions 4 to 9, and 24
    bodies = [[read_body(one["entry"]) if "entry" in one else None for one in span["links"]]
              for span in spans]
    links, end, time = {}, -1, 0
    for place, span in enumerate(spans):
        ensure(span["first"] > end + 1 or span["first"] == 0 and end == -1, "spans out of order")
        ensure(end > -1 or span["first"] == 0 and span["before"] == ZERO, "no beginning")
        ensure("entry" in span["links"][0], "a span that begins without a request")
        log, digest = span["before"]["log_digest"], span["before"]["digest"]
        for at, link in enumerate(span["links"]):
            seq, entry = span["first"] + at, link.get("entry")
            if entry:
                parts = [str(seq), *(str(entry[name]) for name in NAMES)]
                log = sha(bytes.fromhex(log) + frame(parts))
                ensure(log == link["log_digest"], f"log_digest of entry {seq}")
                ensure((entry["kind"] == "genesis") == (seq == 0), "genesis is entry 0")
                ensure(entry["at"] >= time, f"the time of entry {seq}")
                time = entry["at"]
            log = link["log_digest"]
            digest = sha(bytes.fromhex(digest) + bytes.fromhex(log) + frame(link["results"]))
            events, records = read_results(link["results"])
            links[seq] = {"span": place, "digest": digest, "entry": entry, "events": events,
                          "records": records, "body": bodies[place][at]}
            end = seq
        ensure(span["after"] == {"digest": digest, "log_digest": log}, f"digests after {end}")
    for seq, given in (one.split(":") for one in trusted):
        ensure(links.get(int(seq), {}).get("digest") == given.lower(), f"digest of entry {seq}")
    return links

def agents_of(links):  # conditions 10 to 12: results that do not contradict each other
    once, last, blocks, ids, kinds = set(), {}, {}, {}, {}

    def count(what, found, span):
        ensure(type(found) is int, f"number of {what}")
        before, since = last.get(what, (COUNTED[what] - 1, 0))
        ensure(found > before if span > since else found == before + 1, f"number of {what}")
        last[what] = (found, span)

    def kind(agent):
        ensure(isinstance(agent["id"], str) and isinstance(agent["personality"], str), "an agent")
        ensure(kinds.setdefault(agent["id"], agent["personality"]) == agent["personality"],
               f"two personalities of {agent['id']}")

    for link in links.values():
        for event in link["events"]:
            count("events", event["seq"], link["span"])
            if event["type"] in NAMED:
                kind(event["data"][NAMED[event["type"]]])
        for (table, name), (key, value) in link["records"].items():
            if table in COUNTED:
                count(table, key, link["span"])
            ensure(table not in ONCE or (table, name) not in once, f"{table} {name} again")
            once.add((table, name))
            if table == "blocks":
                state, before = value["state"], blocks.get(name)
                ensure(isinstance(state, str), f"the state of block {name}")
                ensure(before is None or before == "voting" != state, f"block {name} again")
                blocks[name] = state
        profiles = [one for (table, _), one in link["records"].items() if table == "agents"]
        numbers = [one for (table, _), one in link["records"].items() if table == "agent_numbers"]
        ensure(len(profiles) == len(numbers) <= 1, "records of agents")
        for (key, profile), (ordinal, value) in zip(profiles, numbers):
            known = {"agent_id": agent_id(profile["public_key"]), "ordinal": ordinal}
            ensure(key == known["agent_id"] == profile["agent_id"], "the id of an agent")
            ensure(same([profile["ordinal"], value], [ordinal, {"agent_id": key}]), "an ordinal")
            ids[ordinal] = known["agent_id"]
            kind({"id": key, "personality": profile["personality"]})
    return ids, kinds

# The decision rules: docs/rules.md, "Exact definitions". Parameters are (default, least, most).
TURNOUT = {"turnout_bps": (5_000, 0, 10_000)}
ELECTIONS = dict.fromkeys("plurality approval borda instant_runoff".split(), TURNOUT)
ELECTIONS |= dict.fromkeys(["schulze", "ranked_pairs"], {**TURNOUT, "margins": (0, 0, 1)})
ELECTIONS |= {"score": {**TURNOUT, "highest": (10, 1, 1_000)},
              "proportional": {**TURNOUT, "seats": (3, 1, 16)}}
COMMITTEE = {"size": (100, 1, 10_000), "for_bps": (6_667, 0, 9_999), "of_drawn": (1, 0, 1)}
THRESHOLD = {"for_bps": (5_000, 0, 9_999), "turnout_bps": (0, 0, 10_000), "of_cast": (0, 0, 1)}
RULES = {"bft": {}, "veto": {}, "unanimity": {}, "threshold": THRESHOLD, "liquid": TURNOUT,
         "majority": {"participation_bps": (5_000, 0, 10_000)}, "committee": COMMITTEE,
         "quadratic": {**TURNOUT, "credits": (25, 1, 10**6)}, **ELECTIONS, "lines": {},
         "effective": {**TURNOUT, "correlation_bps": (5_000, 0, 10_000),
                       "least_effective": (0, 0, 10**9)}}
BALLOTS = {"plurality": "option", "approval": "approved", "proportional": "approved",
           "score": "scores", "quadratic": "votes", "liquid": "delegate",
           "effective": "model"}
BALLOTS |= dict.fromkeys("borda instant_runoff schulze ranked_pairs".split(), "ranking")
TIERED = "borda schulze ranked_pairs".split()
TERMS = "approve reject total voted electors vetoes one".split()

def is_whole(value, least, most):
    return type(value) is int and least <= value <= most

def is_line(line):
    if not isinstance(line, dict) or not {"if", "then"} <= line.keys() <= {"if", "then", "over"}:
        return False
    factors = line["if"]
    return (line.get("over", True) is True and fits(line["then"], "finalized|rejected|expired")
            and isinstance(factors, dict) and factors and factors.keys() <= {*TERMS}
            and all(is_whole(factor, -10**6, 10**6) for factor in factors.values()))

def values_of(genesis):  # the rule's parameters, or None for a module
    policy, rule = genesis["policy"], genesis.get("rule", {})
    ensure(isinstance(rule, dict) and rule.keys() <= {"parameters", "lines", "source"}, "the rule")
    given = rule.get("parameters", {})
    ensure(isinstance(given, dict) and len(given) <= 16, "the parameters of the rule")
    ensure(all(fits(name, "[a-z][a-z0-9_]{0,31}") and is_whole(value, -COUNT, COUNT)
               for name, value in given.items()), "the parameters of the rule")
    ensure(("lines" in rule) == (policy == "lines"), "lines belong to the policy lines")
    ensure(("source" in rule) == (policy == "module"), "a source belongs to the policy module")
    if policy == "module":
        ensure(fits(rule["source"], TEXT) and 1 <= len(rule["source"]) <= 16_384, "the module")
        return None
    lines = rule.get("lines", [{"if": {"one": 1}, "then": "expired"}])
    ensure(isinstance(lines, list) and 1 <= len(lines) <= 16 and all(map(is_line, lines)), "lines")
    ensure(isinstance(policy, str) and policy in RULES, "a policy that names no rule")
    ensure(given.keys() <= RULES[policy].keys(), "a parameter that the rule lacks")
    older = {"participation_bps": genesis["participation_bps"]}
    values = {name: given.get(name, older.get(name, standard))
              for name, (standard, _, _) in RULES[policy].items()}
    ensure(all(is_whole(values[name], *RULES[policy][name][1:]) for name in values), "a parameter")
    return values

def is_ballot(policy, values, ballot, options):
    if not isinstance(ballot, dict) or ballot.keys() != {BALLOTS[policy]}:
        return False
    [(member, value)] = ballot.items()
    if len(jcs(ballot).encode()) > 2_048:
        return False
    if member == "option":
        return isinstance(value, str) and value in options
    if member in ("approved", "ranking"):
        if not isinstance(value, list) or len(value) < (member == "ranking"):
            return False
        tied = [one for one in value if isinstance(one, list)]  # equal options of a ranking
        if tied and policy not in TIERED or any(len(tier) < 2 for tier in tied):
            return False
        names = [name for tier in value for name in (tier if isinstance(tier, list) else [tier])]
        return (all(isinstance(name, str) and name in options for name in names)
                and len({*names}) == len(names))
    if member == "scores":
        return isinstance(value, dict) and value.keys() <= {*options} and all(
            is_whole(score, 0, values["highest"]) for score in value.values())
    if member == "votes":
        return is_whole(value, 1, 1_000) and value * value <= values["credits"]
    return fits(value, "[!-~]{1,64}" if member == "model" else "agent_[0-9a-f]{32}")

def by_weight(policy, values, lines, t, over):  # the decision of a weight rule
    a, r, n = t["approve"], t["reject"], t["total"]
    if policy == "lines":
        for line in lines:
            total = sum(factor * t[term] for term, factor in line["if"].items())
            if total > 0 and (over or "over" not in line):
                return line["then"]
        return "expired" if over else None
    if policy == "unanimity":
        return "rejected" if r else "finalized" if a >= n else "expired" if over else None
    if policy == "majority":
        return at_end(a, r, a + r, n, values["participation_bps"]) if over else None
    if policy == "threshold":
        share = values["for_bps"]
        if (a + r) * 10_000 < values["turnout_bps"] * n:
            return "expired" if over else None
        if a * 10_000 > share * n or r * 10_000 >= (10_000 - share) * n:
            return "finalized" if a * 10_000 > share * n else "rejected"
        if over and values["of_cast"]:
            return "finalized" if a * 10_000 > share * (a + r) else "rejected"
        return "expired" if over else None
    if 3 * a > 2 * n:
        return "finalized"
    if 3 * r >= n or policy == "veto" and t["vetoes"] > 0:
        return "rejected"
    return "expired" if over else None

def at_end(approve, reject, cast, total, turnout):
    few = cast * 10_000 < turnout * total
    return "expired" if few else "finalized" if approve > reject else "rejected"

def pairs_of(ballots, m):  # the weight that prefers a to b
    pairs = {(a, b): 0 for a in range(m) for b in range(m)}
    for weight, ranking in ballots:
        place = {option: at for at, tier in enumerate(ranking) for option in tier}
        for a, b in pairs:
            if a in place and place[a] < place.get(b, m):
                pairs[a, b] += weight
    return pairs

def runoff(ballots, m):
    remaining, last = [*range(m)], [0] * m
    while True:
        for option in remaining:
            last[option] = 0
        for weight, ranking in ballots:
            for option in [one for [one] in ranking if one in remaining][:1]:
                last[option] += weight
        best = max(remaining, key=lambda option: (last[option], -option))
        if len(remaining) <= 2 or 2 * last[best] > sum(last[option] for option in remaining):
            return best, last
        remaining.remove(min(remaining, key=lambda option: (last[option], -option)))

def strongest(ballots, m, margins):  # Schulze
    pairs = pairs_of(ballots, m)
    path = {(a, b): (weight - margins * pairs[b, a]) * (weight > pairs[b, a])
            for (a, b), weight in pairs.items()}
    changed = True
    while changed:
        changed = False
        for a, b in path:
            found = max(min(path[a, via], path[via, b]) for via in range(m))
            if found > path[a, b]:
                path[a, b], changed = found, True
    beats = [[b for b in range(m) if path[a, b] > path[b, a]] for a in range(m)]
    best = next(a for a in range(m) if not any(a in row for row in beats))
    return best, [len(row) for row in beats]

def locked(ballots, m, margins):  # ranked pairs
    pairs, below = pairs_of(ballots, m), [set() for _ in range(m)]

    def reached(start):
        found, open_ = set(), [start]
        while open_:
            open_ += [one for one in below[open_.pop()] if one not in found and not found.add(one)]
        return found

    won = [(pairs[b, a] - weight, 0, a, b) if margins else (-weight, pairs[b, a], a, b)
           for (a, b), weight in pairs.items() if weight > pairs[b, a]]
    for _, _, a, b in sorted(won):
        if a not in reached(b):
            below[a].add(b)
    all_below = [reached(option) for option in range(m)]
    best = next(a for a in range(m) if not any(a in row for row in all_below))
    return best, [len(row) for row in all_below]

def seated(ballots, m, seats):  # proportional
    places, elected = [0] * m, []
    for seat in range(min(seats, m), 0, -1):
        sums = [0] * m
        for weight, approved in ballots:
            share = weight * 720_720 // (1 + sum(option in elected for option in approved))
            for option in approved:
                sums[option] += share
        free = [option for option in range(m) if option not in elected]
        elected.append(max(free, key=lambda option: (sums[option], -option)))
        places[elected[-1]] = seat
    return elected[0], places

def elect(policy, values, votes, options):  # votes: (weight, value of the ballot's only member)
    m, number = len(options), {name: at for at, name in enumerate(options)}
    if policy == "proportional":
        numbered = [(weight, [number[name] for name in names]) for weight, names in votes]
        return seated(numbered, m, values["seats"])
    if BALLOTS[policy] == "ranking":
        ranked = [(weight, [[number[name] for name in (tier if isinstance(tier, list) else [tier])]
                            for tier in ranking]) for weight, ranking in votes]
        if policy == "instant_runoff":
            return runoff(ranked, m)
        if policy != "borda":
            method = {"schulze": strongest, "ranked_pairs": locked}
            return method[policy](ranked, m, values["margins"])
        pairs = pairs_of(ranked, m)
        sums = [sum(pairs[a, b] for b in range(m)) for a in range(m)]
        return sums.index(max(sums)), sums
    sums = [0] * m
    for weight, value in votes:
        points = {"option": lambda: {value: 1}, "approved": lambda: dict.fromkeys(value, 1),
                  "scores": lambda: value}
        for name, point in points[BALLOTS[policy]]().items():
            sums[number[name]] += weight * point
    return sums.index(max(sums)), sums

def winners(policy, values, votes, options):  # the options that win in some order of the options
    first, seats = set(), set()
    for order in itertools.permutations(options):
        best, numbers = elect(policy, values, votes, order)
        first.add(order[best])
        if policy == "proportional":
            seats.update(name for name, place in zip(order, numbers) if place)
    tied = seats if len(first) == 1 and len(seats) > values.get("seats", 0) else first
    return [name for name in options if name in tied]

def follow(votes):  # liquid: for each vote, the number of the vote whose decision counts
    at = {agent: number for number, (agent, _) in enumerate(votes)}
    to = [at.get(delegate, number) for number, (_, delegate) in enumerate(votes)]
    pointed, counts = [0] * len(to), [*range(len(to))]
    for target in to:
        pointed[target] += 1
    outside = [number for number in counts if not pointed[number]]
    for number in outside:  # grows; what it never contains is on a cycle
        pointed[to[number]] -= 1
        if not pointed[to[number]]:
            outside.append(to[number])
    for number in reversed(outside):
        counts[number] = counts[to[number]]
    return counts

def draw(block, weights, size):  # committee: seats by agent
    n, one = sum(weights.values()), 2**256
    expected = min(size, n)
    inverted = 2 * expected > n
    p = n - expected if inverted else expected
    none, drawn = {}, dict.fromkeys(weights, 0)
    for agent, weight in weights.items() if p else ():
        whole, rest = divmod(weight, 8 * n // p)
        for chunk, units in enumerate([8 * n // p] * whole + [rest] * (rest > 0)):
            if units not in none:
                power, base = one, (n - p) * one // n
                for digit in reversed(f"{units:b}"):
                    power = power * base // one if digit == "1" else power
                    base = base * base // one
                none[units] = power
            u, k, q = int(sha(f"{block} {agent} {chunk}"), 16), 0, none[units]
            s = q
            while u >= s and k < units:
                q = q * (units - k) * p // ((k + 1) * (n - p))
                k, s = k + 1, s + q
            drawn[agent] += k
    return {agent: weights[agent] - drawn[agent] if inverted else drawn[agent] for agent in drawn}

def by_committee(values, count, expected, sums, over):
    a, r = sums["approve"], sums["reject"]
    least = values["for_bps"] * (count if values["of_drawn"] else expected)
    status = "expired" if over else None
    if a * 10_000 > least:
        status = "finalized"
    elif r and (count - r) * 10_000 <= least:
        status = "rejected"
    return status, {"standings": {"approve": a, "reject": r, "seats": count}}

def preferring(weights, votes):  # the weight and the ballot of each vote that counts for an option
    return [(weights[agent], *ballot.values()) for agent, _, decision, ballot in votes
            if ballot is not None and decision == "approve"]

def discounted(values, weights, votes):  # the standings of the rule effective
    models, found = {}, {"approve": 0, "reject": 0, "effective": 0}
    for agent, _, decision, ballot in votes:
        sums = models.setdefault((ballot or {"model": ""})["model"], dict.fromkeys(found, 0))
        sums[decision] += weights[agent]
        sums["effective"] += 1
    for sums in models.values():
        divisor = 10_000 + (sums["effective"] - 1) * values["correlation_bps"]
        found = {name: found[name] + sums[name] * 10**7 // divisor for name in found}
    return found

def by_ballots(policy, values, weights, votes, options):  # a rule that decides when it is over
    total, sums = sum(weights.values()), {"approve": 0, "reject": 0}
    for agent, _, decision, _ in votes:
        sums[decision] += weights[agent]
    cast, standings, chosen = sum(sums.values()), {"approve": 0, "reject": 0}, {}
    if policy == "liquid":
        counts, standings["delegated"] = follow([(voter, (ballot or {}).get("delegate"))
                                                 for _, voter, _, ballot in votes]), 0
        for number, (agent, *_) in enumerate(votes):
            standings[votes[counts[number]][2]] += weights[agent]
            standings["delegated"] += weights[agent] if counts[number] != number else 0
    elif policy == "quadratic":
        for agent, _, decision, ballot in votes:
            standings[decision] += weights[agent] * (ballot or {"votes": 1})["votes"]
    elif policy == "effective":
        standings = discounted(values, weights, votes)
    else:
        ballots = preferring(weights, votes)
        status = at_end(sums["approve"], sums["reject"], cast, total, values["turnout_bps"])
        if not options:
            return status, {}
        best, numbers = elect(policy, values, ballots, options)
        chosen = {"choice": options[best]} if status == "finalized" else {}
        return status, {**chosen, "standings": dict(zip(options, numbers))}
    status = at_end(standings["approve"], standings["reject"], cast, total, values["turnout_bps"])
    if standings.get("effective", 0) < values.get("least_effective", 0):
        status = "expired"
    return status, {"standings": standings}

def claimed_outcome(record, options):  # of a module, which this program does not run
    outcome = {name: record[name] for name in ("choice", "standings") if name in record}
    if "choice" in outcome:
        ensure(outcome["choice"] in options, "a choice that is not an option")
    standings = outcome.get("standings", {})
    ensure(isinstance(standings, dict) and len(standings) <= 64, "standings")
    ensure(all(len(name.encode("utf-16-le")) <= 128 and is_whole(value, -COUNT, COUNT)
               for name, value in standings.items()), "standings")
    return outcome

GENESIS = """consistency dormant_after dormant_share_max leak_periods min_validators network_id
    participation_bps policy voting_period_ms weights""".split()

def genesis_of(link, claim):  # condition 13
    genesis = link["body"]
    ensure(jcs(genesis) == link["entry"]["body"], "genesis is not canonical")
    values = values_of(genesis)
    ensure(fits(genesis["weights"], "equal|reputation|alliance_bonus"), "the weights")
    bounds = {"voting_period_ms": 86_400_000, "min_validators": 10**6, "participation_bps": 10**4}
    ensure(all(fits(genesis[name], bounds[name]) for name in bounds), "a parameter")
    ensure(genesis["voting_period_ms"] > 0 < genesis["min_validators"], "a parameter")
    ensure("signatures" not in genesis, "a network without signatures")
    ensure(genesis["network_id"] == claim["network_id"], "another network")
    if "rule" in genesis:  # such a network has all parameters of section 11
        ensure(genesis.keys() == {*GENESIS, "rule"}, "a parameter is missing or unknown")
        bounds = {"dormant_after": 1_000, "dormant_share_max": 10_000, "leak_periods": 10**6,
                  "consistency": "conformity|off", "network_id": NETWORK}
        ensure(all(fits(genesis[name], bounds[name]) for name in bounds), "a parameter")
    return genesis, values

def about(links, kind, block):  # events of a type about the block
    return [[seq, event["data"]] for seq, link in links.items() for event in link["events"]
            if event["type"] == kind and event["data"].get("block_hash") == block]

def check(data, trusted):
    ensure(len(data) <= 16 << 20, "more than 16 MiB")
    text = data.decode()
    c = parse(text)
    ensure(fits(c, SHAPE) and text == jcs(c) + "\n", "no certificate, or not canonical")
    claim, block = c["claim"], c["claim"]["block_hash"]
    links = read_spans(c["spans"], trusted)
    ids, kinds = agents_of(links)
    genesis, values = genesis_of(links[0], claim)
    policy, lines = genesis["policy"], genesis.get("rule", {}).get("lines", [])
    veto = policy == "veto" or any("vetoes" in line["if"] for line in lines)
    changes = [(seq, link["records"]["blocks", jcs(block)][1]) for seq, link in links.items()
               if ("blocks", jcs(block)) in link["records"]]
    (opened, first), (closed, last) = changes
    ensure(first["state"] == "voting", "the beginning of the block")
    opening, closing, record = links[opened], links[closed], last["context"]

    # 14: the proposal
    proposal = opening["body"]
    ensure(opening["entry"]["kind"] == "propose", "no proposal")
    ensure(is_hex(opening["entry"]["public_key"], 64), "no producer")
    producer = opening["entry"]["public_key"].lower()
    ensure(not {"producer", "network_id"} & proposal.keys(), "a member of the block's hash")
    made = {**unsigned(proposal), "producer": producer, "network_id": claim["network_id"]}
    ensure(sha("agentnet-v1-blockhash\n" + jcs(made)) == block, "another block hash")
    ensure(is_hex(proposal["parent_hash"], 64), "no parent")
    hashes = [tx["hash"].lower() for tx in proposal["transactions"]]
    signers = [tx.get("sender", producer).lower() for tx in proposal["transactions"]]
    ensure(len({*zip(hashes, signers)}) == len(hashes), "a transaction twice")
    names = [one["name"] for one in proposal.get("options", [])]
    ensure(len(names) <= 16 and all(fits(name, OPTION) for name in names), "options")
    ensure(len({*names}) == len(names), "an option twice")
    uses = policy in ELECTIONS if values is not None else "options" in first["context"]
    options = names if uses else []
    offered = {"options": options} if options else {}
    numbered = opening["records"]["block_numbers", jcs(record["ordinal"])][1]
    ensure(same(numbered, {"block_hash": block}), "another number of the block")

    # 15: the electorate
    before = [seq for seq in links if seq <= opened]
    written, key, electorate = [(seq, *one) for seq in before for (table, _), one
                                in links[seq]["records"].items() if table == "electorates"][-1]
    ensure(same(key, record["electorate"]), "another electorate")
    ensure((links[written]["entry"] or {}).get("kind") == "propose", "electorate of no proposal")
    ensure(all(type(one) is int and one >= 0 for one in electorate["agents"]), "an elector")
    weights = dict(zip(electorate["agents"], electorate["weights"], strict=True))
    ensure([*weights] == sorted(electorate["agents"]), "electors out of order")
    ensure(len(weights) == len(electorate["agents"]), "an elector twice")
    can = {"equal": [1], "reputation": range(1, 101), "alliance_bonus": range(100, 111, 2)}
    ensure(all(type(one) is int and one in can[genesis["weights"]] for one in weights.values()),
           "a weight that no elector has")
    ensure(len(weights) >= genesis["min_validators"], "too few electors")
    total, deadline = sum(weights.values()), opening["entry"]["at"] + genesis["voting_period_ms"]

    # 16: electors that registered in an entry of the certificate
    personality, registered = {}, []
    for seq in before if veto or values is None else []:  # a module may count vetoes
        entry, body = links[seq]["entry"], links[seq]["body"]
        if not entry or entry["kind"] != "register":
            continue
        [(_, profile)] = [one for (table, _), one in links[seq]["records"].items()
                          if table == "agents"]
        if profile["ordinal"] not in weights:
            continue
        key = body["public_key"]
        ensure(is_hex(key, 64) and entry["public_key"].lower() in ("", key.lower()), "a key")
        ensure(fits(body["personality"], "[A-Za-z][A-Za-z0-9_-]{0,31}"), "a personality")
        ensure(fits(body["capabilities"], [TEXT, 1]), "capabilities")
        ensure("validator" in body["capabilities"], "no validator")
        ensure(fits([body["name"], body.get("description", "")], [TEXT, 2]), "a name")
        expected = {"agent_id": agent_id(key.lower()), "ordinal": profile["ordinal"],
                    "public_key": key.lower(), "personality": body["personality"].lower(),
                    "name": body["name"], "description": body.get("description", ""),
                    "capabilities": body["capabilities"], "registered_at": entry["at"]}
        ensure(same(profile, expected), f"the registration of entry {seq}")
        personality[profile["ordinal"]] = profile["personality"]
        registered.append(seq)

    # 17: the votes
    votes, keys, told = [], set(), about(links, "block_validation", block)
    for seq, link in links.items():
        found = [one for (table, _), one in link["records"].items() if table == "votes"
                 and isinstance(one[0], list) and one[0][:1] == [record["ordinal"]]]
        if not found:
            continue
        ((_, agent), vote), entry, body = found[0], link["entry"], link["body"]
        ensure(entry and entry["kind"] == "vote" and is_hex(entry["public_key"], 64), "no vote")
        ensure(opened < seq <= closed and entry["at"] <= deadline, f"the time of vote {seq}")
        key, decision = entry["public_key"].lower(), body["decision"]
        reason, memes = body.get("reason", ""), body.get("meme_references", [])
        ensure(body["block_hash"].lower() == block and decision in ("approve", "reject"), "a vote")
        ensure(isinstance(reason, str) and len(memes) <= 16, "a reason or references")
        ensure(isinstance(memes, list) and all(isinstance(one, str) for one in memes), "memes")
        takes = policy in BALLOTS if values is not None else "ballot" in vote
        ballot = {"ballot": body["ballot"]} if takes and "ballot" in body else {}
        ensure(values is None or not ballot
               or is_ballot(policy, values, body["ballot"], options), f"the ballot of vote {seq}")
        counted = {"at": entry["at"], "decision": decision, "entry": seq,
                   "meme_references": list(dict.fromkeys(memes)), **ballot}
        ensure(same(vote, counted), f"the record of vote {seq}")
        ensure(key not in keys, f"{key} votes twice")
        ensure(type(agent) is int and agent in weights, f"{key} is not an elector")
        numbers = {one: number for number, one in ids.items()}
        ensure(ids.get(agent, agent_id(key)) == agent_id(key), f"agent {agent} is another")
        ensure(numbers.get(agent_id(key), agent) == agent, f"agent {agent} is another")
        validator = {"id": agent_id(key), "personality": kinds.get(agent_id(key))}
        event = {"block_hash": block, "decision": decision, "reason": reason,
                 "timestamp": instant(entry["at"]), "validator": validator, **ballot}
        ensure(same(told[len(votes):][:1], [[seq, event]]), f"the event of vote {seq}")
        personality[agent] = validator["personality"]
        keys.add(key)
        votes.append((seq, agent, validator["id"], decision, ballot.get("ballot")))
    ensure(len(told) == len(votes), "events of votes that are not here")

    # 18 and 19: the count, and the end
    ensure(not veto or weights.keys() <= personality.keys(), "unknown personalities")
    groups, outcome, status = {}, {}, None
    for elector in weights if veto else []:
        groups.setdefault(personality[elector], set()).add(elector)
    tally, rejecting, vetoes = {"approve": 0, "reject": 0, "voted": 0}, set(), 0
    seats = draw(block, weights, values["size"]) if policy == "committee" else {}
    count, taken = sum(seats.values()), {"approve": 0, "reject": 0}

    def decided(over):
        if policy == "committee":
            return by_committee(values, count, min(values["size"], total), taken, over)
        if policy in BALLOTS:
            cast = [vote[1:] for vote in votes]
            return by_ballots(policy, values, weights, cast, options) if over else (None, {})
        counts = {**tally, "total": total, "electors": len(weights), "vetoes": vetoes, "one": 1}
        return by_weight(policy, values, lines, counts, over), {}

    for seq, agent, _, decision, _ in votes:
        ensure(status is None, "a vote after the decision")
        tally[decision] += weights[agent]
        tally["voted"] += 1
        taken[decision] += seats.get(agent, 0)
        if decision == "reject":
            rejecting.add(agent)
            group = groups.get(personality.get(agent), ())
            vetoes += len(group) > 2 and rejecting.issuperset(group)
        if values is not None:
            status, outcome = decided(tally["voted"] == len(weights))
    by_vote = bool(votes) and votes[-1][0] == closed
    if not by_vote:
        entry = closing["entry"] or {}
        ensure(entry.get("kind") == "tick" and entry["at"] == deadline + 1, "an end by nothing")
        if status is None and values is not None:
            status, outcome = decided(True)
    tally["vetoed"] = vetoes > 0
    if values is None:
        status, tally["vetoed"] = last["state"], last["context"]["vetoed"] is True
        outcome = claimed_outcome(last["context"], options)
        ensure(status in ("finalized", "rejected"), "the state of the block")
        ensure("choice" not in outcome or status == "finalized", "a choice of a rejected block")

    # 20: all that the log says of the block
    end = closing["entry"]["at"]
    fixed = {"block_hash": block, "parent_hash": proposal["parent_hash"].lower(),
             "height": claim["height"], "ordinal": record["ordinal"], "entry": opened,
             "producer": agent_id(producer), "producer_key": producer, "total": total,
             "transactions": len(hashes), "electorate": record["electorate"],
             "proposed_at": opening["entry"]["at"], "deadline": deadline, "electors": len(weights),
             **offered}
    none = {"approve": 0, "reject": 0, "voted": 0, "vetoed": False, "closed_at": 0}
    ended = {**fixed, **tally, **outcome, "closed_at": end}
    ensure(same(last, {"state": status, "context": ended}), f"the record: it is {ended}")
    ensure(same(first, {"state": "voting", "context": {**fixed, **none}}), "first record")
    named = {name: fixed[name] for name in ("block_hash", "parent_hash", "height")}
    event = {**named, "status": status, "approve": tally["approve"], "reject": tally["reject"],
             "electorate": total, "transactions": len(hashes), "timestamp": instant(end), **outcome}
    ensure(same(about(links, "block_status", block), [[closed, event]]), "the event of the end")
    [(seq, event)] = about(links, "block_proposal", block)
    event = {**event, "transactions": [tx["hash"] for tx in event["transactions"]]}
    event.pop("meme_content", None)
    expected = {**named, "producer": {"id": agent_id(producer), "public_key": producer},
                "transactions": hashes, "timestamp": instant(opening["entry"]["at"]), **offered}
    ensure(seq == opened and same(event, expected), "the event of the proposal")
    heights = [[seq, key] for seq, link in links.items() for (table, _), (key, value)
               in link["records"].items() if table == "heights" and value["block_hash"] == block]
    final = [[closed, claim["height"]]] if status == "finalized" else []
    ensure(same(heights, final), "the height")

    # 21 and 22: the claim, and nothing beside
    counted = {"status": status, "approve": tally["approve"], "reject": tally["reject"]}
    chosen = {"choice": outcome["choice"]} if "choice" in outcome else {}
    same_choice = claim.get("choice") == outcome.get("choice")
    ensure(same_choice and same({**claim, **counted, **chosen, "total": total}, claim),
           f"the claim: it is {counted | chosen}")
    used = {0, written, *registered, opened, *(seq for seq, *_ in votes), closed}
    ensure(all((links[seq]["entry"] is not None) == (seq in used) for seq in links), "a request")
    ensure({links[seq]["span"] for seq in used} == {*range(len(c["spans"]))}, "an idle span")

    # 23: signatures, last since they cost the most
    signed("agentnet-v1-block\n" + jcs(unsigned(proposal)), producer, proposal["signature"], "it")
    for tx, of, signer in zip(proposal["transactions"], hashes, signers):
        ensure(sha(tx["data"]) == of, "the hash of a transaction")
        signed(f"agentnet-v1-tx\n{claim['network_id']}\n{of}", signer, tx["signature"], of)
    for seq in registered:
        entry = links[seq]["entry"]
        ensure(entry["target"].split("?")[0] == "/api/v1/agents/register", "another route")
        parts = ["agentnet-v1-http", "POST", entry["target"], entry["timestamp"]]
        signed("\n".join([*parts, sha(entry["body"])]), links[seq]["body"]["public_key"],
               entry["signature"], f"entry {seq}")
    for seq, *_ in votes:
        body = links[seq]["body"]
        signed("agentnet-v1-vote\n" + jcs(unsigned(body)), links[seq]["entry"]["public_key"],
               body["signature"], f"entry {seq}")
    seq = max(links)
    named, said = f"{block} of {claim['network_id']}", {"status": status, **chosen}
    if values is None:
        module = sha(genesis["rule"]["source"])
        print(f"holds: {named} has {len(votes)} votes, but its outcome is not proven")
        print(f"proven: weight {tally['approve']} for, {tally['reject']} against, of {total}")
        print(f"not proven, as this program runs no modules: that SHA-256 {module} gives {said}")
    else:
        print(f"holds: {named} {' '.join(said.values())} by {len(votes)} votes")
        if "standings" in outcome:
            print(f"standings: {jcs(outcome['standings'])}")
    if chosen and values is not None and len(options) <= 5:
        ballots = preferring(weights, [vote[1:] for vote in votes])
        tied = winners(policy, values, ballots, options)
        if len(tied) > 1:
            print(f"tied: {jcs(tied)}: the order of the options decided which one wins")
    print(f"trust the digest after entry {seq}: {links[seq]['digest']}; spans: {len(c['spans'])}")

try:
    check(open(sys.argv[1], "rb").read(), sys.argv[2:])
except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as bad:
    refuse(f"not as a certificate must be: {bad!r}")
