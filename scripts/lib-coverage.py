# SPDX-License-Identifier: GPL-2.0-only
#
# What scripts/coverage reads out of the output of gcov.
#
# usage: lib-coverage.py LINUX BUILD TMP REASONS ALSO
#
# TMP has "json", what gcov printed, one object a line, and "added", the lines of the series. Writes
# there: "table" and "markdown", the results by file; "summary"; "unreached", all lines that did not run.
# Prints what is wrong, a summary of it last, and fails if anything is.
#
# REASONS has, for lines that do not run, why:
#
#   FILE FUNCTION(): REASON
#           LINE
#
# with the text of these lines, in any order, whatever white space they have; "*" is all of the function.
# Those of a REASON that begins with "by chance: " may run.
# ALSO may have more of this, for the use of several targets.
import json
import os
import re
import sys

linux, build, tmp, reasons_file, also = sys.argv[1:]


def normal(text):
    return ' '.join(text.split())


class Source:
    """The lines of a file, and the function that each is in."""

    def __init__(self, file):
        with open(os.path.join(linux, file), errors='replace') as text:
            self.lines = text.read().split('\n')
        self.function = [''] * (len(self.lines) + 1)
        start, name, current = 0, '', ''
        for number, line in enumerate(self.lines, 1):
            head = re.match(r'(?=[A-Za-z_]).*?(\w+)\(', line)
            if head and not line.startswith('#') and not line.endswith(';'):
                # A head of several lines: the first is what has the name.
                start, name = number, head.group(1)
                if '{' in line:
                    current = name
            if line.startswith('{') and name:
                for i in range(start, number):
                    self.function[i] = name
                current, name = name, ''
            self.function[number] = current
            if line.startswith('}'):
                current = ''


added = {}
with open(tmp + '/added') as text:
    for line in text:
        file, number = line.rstrip('\n').split('\t')
        added.setdefault(file, set()).add(int(number))

# Of a line that is in several objects, or that several guests ran, the most counts.
lines, branches = {}, {}
with open(tmp + '/json') as text:
    for line in text:
        for unit in json.loads(line)['files'] if line.strip() else []:
            file = os.path.relpath(os.path.normpath(os.path.join(build, unit['file'])), linux)
            if file not in added:
                continue
            # A head that only became "notrace" is no code of the series.
            heads = {f['start_line'] for f in unit['functions']
                     if not any(n in added[file] for n in range(f['start_line'] + 1, f['end_line'] + 1))}
            for one in unit['lines']:
                if one['line_number'] not in added[file] or one['line_number'] in heads:
                    continue
                key = file, one['line_number']
                lines[key] = max(lines.get(key, 0), one['count'])
                have = branches.setdefault(key, [])
                have.extend([False] * (len(one['branches']) - len(have)))
                for i, branch in enumerate(one['branches']):
                    have[i] |= branch['count'] > 0
if not lines:
    sys.exit('no counter is of a line of the series')


def read_reasons(name):
    known, where = {}, None
    if not name or not os.path.exists(name):
        return known
    with open(name) as text:
        for number, line in enumerate(text, 1):
            head = re.match(r'(\S+) (\w+)\(\): (\S.*)', line)
            if not line.strip() or line.startswith('#'):
                continue
            if line[0] in ' \t' and where:
                known[where[0], where[1], normal(line)] = where[2]
            elif head:
                where = head.groups()
            else:
                sys.exit('%s:%d: neither a line of code nor FILE FUNCTION(): REASON' % (name, number))
    return known


own, shared = read_reasons(reasons_file), read_reasons(also)
known = {**shared, **own}
used = set()


def reason_of(file, function, code):
    for text in code, '*':
        if (file, function, text) in known:
            used.add((file, function, text))
            return known[file, function, text]
    return None


def part(some, of):
    return '%d of %d, %.1f %%' % (some, of, 100.0 * some / of) if of else '-'


rows, groups = [], []
for file in sorted(added):
    mine = sorted(number for name, number in lines if name == file)
    if not mine:
        continue
    source = Source(file)
    ways = [way for number in mine for way in branches[file, number]]
    ran = [number for number in mine if lines[file, number]]
    rows.append((file, len(ran), len(mine), sum(ways), len(ways)))
    last = None
    for number in mine:
        if lines[file, number]:
            last = None
            continue
        function, code = source.function[number], normal(source.lines[number - 1])
        here = file, function, reason_of(file, function, code)
        if here != last:
            groups.append((here, []))
            last = here
        groups[-1][1].append((number, code))

total = [sum(row[i] for row in rows) for i in (1, 2, 3, 4)]
with open(tmp + '/table', 'w') as out:
    for file, a, b, c, d in rows + [('all', *total)]:
        out.write('%-42s %-24s %s\n' % (file, part(a, b), part(c, d)))
with open(tmp + '/summary', 'w') as out:
    out.write('%s of lines, %s of branches' % (part(*total[:2]), part(*total[2:])))
with open(tmp + '/unreached', 'w') as out:
    for (file, function, reason), group in groups:
        out.write('%s %s(): %s\n' % (file, function, reason or 'no reason'))
        out.writelines('%6d\t%s\n' % line for line in group)
with open(tmp + '/markdown', 'w') as out:
    out.write('| file | lines | branches |\n| --- | --- | --- |\n')
    for file, a, b, c, d in rows + [('all', *total)]:
        out.write('| %s | %s | %s |\n' % ('**all**' if file == 'all' else '`%s`' % file, part(a, b), part(c, d)))
    none = sorted(file for file in added if file.endswith('.c') and file not in (row[0] for row in rows))
    if none:
        out.write('\nNot in this kernel, or changed without a line of code: %s.\n' % ', '.join('`%s`' % file for file in none))

# What is wrong
bad = []
unnamed = [(where, group) for where, group in groups if not where[2]]
if unnamed:
    last = None
    for (file, function, _), group in unnamed:
        if (file, function) != last:
            print('%s %s(): ' % (file, function))
            last = file, function
        for number, code in group:
            print('\t%s' % code)
    bad.append('%d lines that did not run have no reason' % sum(len(group) for _, group in unnamed))
over = sorted(where for where in set(own) - used if not own[where].startswith('by chance: '))
for where in over:
    print('%s: %s %s(): ran, or is gone: %s' % ((os.path.basename(reasons_file),) + where))
gone = len(over)
if gone:
    bad.append('%d that have one ran, or are gone' % gone)
if total[0] < 0.95 * total[1]:
    bad.append('less than 95 % ran')
if bad:
    print(', '.join(bad))
    sys.exit(1)
