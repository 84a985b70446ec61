// Sorts a table by the column whose head is clicked, and copies tables as tab-separated values. The page reads without it.
document.addEventListener('DOMContentLoaded', () => {
  const whole = cell => cell.title || cell.textContent;
  for (const table of document.querySelectorAll('table')) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      head.classList.add('sortable');
      head.tabIndex = 0;
      const sort = () => {
        const down = head.getAttribute('aria-sort') === 'ascending';
        heads.forEach(other => other.removeAttribute('aria-sort'));
        head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        const numeric = head.classList.contains('number');
        const key = row => whole(row.cells[column]);
        const order = numeric ? (a, b) => Number(key(a)) - Number(key(b)) : (a, b) => key(a).localeCompare(key(b));
        const isNull = row => row.cells[column].classList.contains('null');
        const rows = [...table.tBodies[0].rows];
        rows.sort((a, b) => isNull(a) - isNull(b) || (down ? order(b, a) : order(a, b)));
        table.tBodies[0].append(...rows);
      };
      head.addEventListener('click', sort);
      head.addEventListener('keydown', event => { if (event.key === 'Enter') sort(); });
    });
    const count = table.parentElement.nextElementSibling;
    const button = document.createElement('button');
    button.className = 'copy';
    button.textContent = 'copy';
    button.addEventListener('click', () => {
      const text = [...table.rows].map(row => [...row.cells].map(whole).join('\t')).join('\n');
      const area = document.createElement('textarea');
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
      button.textContent = 'copied';
      setTimeout(() => { button.textContent = 'copy'; }, 1500);
    });
    count.append(button);
  }
});
